import type { JsonValue } from '../api/object-meta.ts';

/** The text is Kubernetes': clients and their tests search for it. */
export class DecodeError extends Error {
  constructor(message: string) {
    super(message);
    this.name = 'DecodeError';
  }
}

/** What Go's decoder calls a JSON value. */
export function nameOf(value: JsonValue): string {
  if (Array.isArray(value)) return 'array';
  if (typeof value === 'boolean') return 'bool';
  if (typeof value === 'bigint') return 'number';
  return typeof value;
}
