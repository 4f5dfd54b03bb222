/**
 * A table for lookups by a client's word: a method, a media type, a kind. A plain object also answers to `constructor`,
 * `toString` and `__proto__`; a table has its own entries and nothing more.
 */
export const table = <T extends object>(entries: T): T => Object.setPrototypeOf({ ...entries }, null);
