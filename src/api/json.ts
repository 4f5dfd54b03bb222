/** JSON values in memory. */

/** A bigint is an integer that a number cannot hold, never a smaller one (object/exact-json.ts). */
export type JsonValue = string | number | bigint | boolean | null | JsonValue[] | JsonObject;
export type JsonObject = { [field: string]: JsonValue | undefined };
