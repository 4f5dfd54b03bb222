/** Whether a text can be read: for functions such as isIP and isSemver. */
export function succeeds(read: () => unknown): boolean {
  try {
    read();
    return true;
  } catch {
    return false;
  }
}
