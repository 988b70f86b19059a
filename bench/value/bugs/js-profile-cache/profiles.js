'use strict';

class Database {
  constructor(rows) {
    this.rows = new Map(rows);
  }

  read(id) {
    return { ...this.rows.get(id) };
  }

  write(id, row) {
    this.rows.set(id, row);
  }
}

class Profiles {
  constructor(database) {
    this.database = database;
    this.cache = new Map();
  }

  load(id) {
    const cached = this.cache.get(id);
    if (cached) {
      return cached;
    }
    const row = this.database.read(id);
    this.cache.set(id, row);
    return row;
  }

  move(id, city) {
    const row = { ...this.load(id), city };
    this.database.write(id, row);
  }
}

function label(profiles, id) {
  const { name, city } = profiles.load(id);
  return `${name}, ${city.toUpperCase()}`;
}

module.exports = { Database, Profiles, label };
