/**
 * A table for lookups by a client's word: a method, a media type, a kind. A plain object would also return `constructor`,
 * `toString` and `__proto__`; a table has only its own entries.
 */
export const table = <T extends object>(entries: T): T => Object.setPrototypeOf({ ...entries }, null);
