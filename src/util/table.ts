/**
 * What is looked up by a word of somebody else's: a method, a media type, a kind. A plain object also answers to `constructor`,
 * `toString` and `__proto__`; this one has what stands in it and nothing more.
 */
export const table = <T extends object>(entries: T): T => Object.setPrototypeOf({ ...entries }, null);
