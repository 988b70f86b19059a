/** Whether the text is in the clipboard now: a browser may refuse, and a person can still select and copy. */
export async function copyText(text: string): Promise<boolean> {
  try {
    await navigator.clipboard.writeText(text);
    return true;
  } catch {
    return false;
  }
}
