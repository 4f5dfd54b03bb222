/** A trouble that stays the same is reported again after this time. */
const REPEAT_MS = 30_000;
/** At most one of alternating troubles is reported in this time. */
const CHANGE_MS = 5000;

/** Reports a trouble that lasts: when it begins, when it changes, and every {@link REPEAT_MS} while it stays. */
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

/** For troubles that occur in many places at once: returns whether one of them should report now. */
export function createReminders(
  now: () => number = () => performance.now(),
): (place: string, trouble: string) => boolean {
  const reminders = new Map<string, (trouble: string) => void>();
  let isNews = false;
  return (place, trouble) => {
    let remind = reminders.get(place);
    if (remind === undefined) {
      remind = createReminder(() => {
        isNews = true;
      }, now);
      reminders.set(place, remind);
    }
    isNews = false;
    remind(trouble);
    return isNews;
  };
}
