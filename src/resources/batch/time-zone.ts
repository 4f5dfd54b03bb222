/** Time zones by their names in the IANA database: `Europe/Berlin`, `Etc/UTC`. */

/** Letters, and what old names have besides (https://data.iana.org/time-zones/theory.html#naming). */
const PART = /^(?!-)[A-Za-z._\-0-9+]{1,14}$/;
const EXPLICIT = 'timeZone must be an explicit time zone as defined in https://www.iana.org/time-zones';

export function checkTimeZone(name: string): string[] {
  if (name === '') return ['timeZone must be nil or non-empty string'];
  const wellFormed = name.split('/').every((part) => PART.test(part) && part !== '.' && part !== '..');
  const unknown = `unknown time zone ${name}`;
  if (!wellFormed) return [unknown];
  if (name === 'Local') return [EXPLICIT];
  return [...(name.toLowerCase() === 'local' ? [EXPLICIT] : []), ...(isZone(name) ? [] : [unknown])];
}

/**
 * Intl knows the database but is generous: it takes any case, and offsets such as `+0100`. Names in the database are files,
 * whose parts all begin with a capital.
 */
function isZone(name: string): boolean {
  if (!name.split('/').every((part) => /^[A-Z]/.test(part))) return false;
  try {
    const { timeZone } = new Intl.DateTimeFormat('en', { timeZone: name }).resolvedOptions();
    return timeZone === name || timeZone.toLowerCase() !== name.toLowerCase();
  } catch (error) {
    if (error instanceof RangeError) return false;
    throw error;
  }
}
