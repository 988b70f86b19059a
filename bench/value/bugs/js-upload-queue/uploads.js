'use strict';

class Bucket {
  constructor() {
    this.stored = [];
  }

  put(name, bytes) {
    this.stored.push({ name, bytes });
  }
}

function upload(bucket, file) {
  const { name, meta } = file;
  const bytes = meta.size * 1024;
  bucket.put(name, bytes);
}

function uploadAll(bucket, files) {
  let skipped = 0;
  for (const file of files) {
    try {
      upload(bucket, file);
    } catch {
      skipped += 1;
    }
  }
  return { done: bucket.stored.length, skipped };
}

module.exports = { Bucket, uploadAll };
