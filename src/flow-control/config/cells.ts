import type { JsonObject, JsonValue } from '../../api/object-meta.ts';

/** Stored objects have passed validation; what is absent all the same reads as empty. */

export function part(object: JsonObject | undefined, name: string): JsonObject | undefined {
  const value = object?.[name];
  return typeof value === 'object' && value !== null && !Array.isArray(value) ? value : undefined;
}

export function parts(object: JsonObject | undefined, name: string): JsonObject[] {
  const value = object?.[name];
  return Array.isArray(value) ? value.filter(isObject) : [];
}

export function texts(object: JsonObject | undefined, name: string): string[] {
  const value = object?.[name];
  return Array.isArray(value) ? value.filter((item) => typeof item === 'string') : [];
}

export function text(object: JsonObject | undefined, name: string): string {
  const value = object?.[name];
  return typeof value === 'string' ? value : '';
}

export function number(object: JsonObject | undefined, name: string): number | undefined {
  const value = object?.[name];
  return typeof value === 'number' ? value : undefined;
}

const isObject = (value: JsonValue): value is JsonObject =>
  typeof value === 'object' && value !== null && !Array.isArray(value);
