/** A trouble that stays the same is told again after this time. */
const REPEAT_MS = 30_000;
/** Troubles that take turns are not all told. */
const CHANGE_MS = 5000;

/** Tells of a trouble that lasts: at once, when it becomes another one, and now and then that it is still there. */
export function createReminder(
  tell: (trouble: string) => void,
  now: () => number = () => performance.now(),
): (trouble: string) => void {
  let last: { readonly trouble: string; readonly atMs: number } | undefined;
  return (trouble) => {
    const atMs = now();
    const bound = trouble === last?.trouble ? REPEAT_MS : CHANGE_MS;
    if (last !== undefined && atMs - last.atMs < bound) return;
    last = { trouble, atMs };
    tell(trouble);
  };
}
