import type { JsonValue } from '../api/json.ts';

/** Returns the same text for equal values: JSON with sorted keys. An absent field equals an undefined one. */
export function canonicalText(value: JsonValue | undefined): string {
  if (typeof value !== 'object' || value === null) return JSON.stringify(value) ?? 'null';
  if (Array.isArray(value)) return `[${value.map(canonicalText).join(',')}]`;
  const fields = Object.keys(value)
    .sort()
    .flatMap((key) =>
      value[key] === undefined ? [] : [`${JSON.stringify(key)}:${canonicalText(value[key])}`],
    );
  return `{${fields.join(',')}}`;
}
