import { badRequest } from '../api/status.ts';

/**
 * Query parameters as Kubernetes' parameter codec reads them (apimachinery, runtime/converter): the first value counts,
 * a boolean is true unless it says `false` or `0`, numbers are decimal int64.
 */

export function readBoolean(query: URLSearchParams, name: string): boolean | undefined {
  const value = query.get(name);
  if (value === null) return undefined;
  return value.toLowerCase() !== 'false' && value !== '0';
}

/** @throws StatusError 400 */
export function readInteger(query: URLSearchParams, name: string): number | undefined {
  const value = query.get(name);
  if (value === null || value === '') return undefined;
  if (!/^[+-]?[0-9]+$/.test(value))
    throw badRequest(`strconv.ParseInt: parsing ${JSON.stringify(value)}: invalid syntax`);
  const number = Number(value);
  if (!Number.isSafeInteger(number)) {
    throw badRequest(`strconv.ParseInt: parsing ${JSON.stringify(value)}: value out of range`);
  }
  return number;
}

export function readString(query: URLSearchParams, name: string): string {
  return query.get(name) ?? '';
}
