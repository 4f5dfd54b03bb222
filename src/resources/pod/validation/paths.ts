import type { FieldError } from '../../../api/status.ts';
import { invalidValue } from '../../../object/field-errors.ts';

/** Paths of files inside volumes and containers. */

/** May not climb: one `..` among its parts is enough to be refused. */
export function validateNoBacksteps(target: string, path: string): FieldError[] {
  return hasBacksteps(target) ? [invalidValue(path, target, "must not contain '..'")] : [];
}

export const hasBacksteps = (target: string): boolean =>
  target.includes('..') && target.split('/').includes('..');

/** Relative, and never above where it starts. */
export function validateDescendingPath(target: string, path: string): FieldError[] {
  return [
    ...(target.startsWith('/') ? [invalidValue(path, target, 'must be a relative path')] : []),
    ...validateNoBacksteps(target, path),
  ];
}

/** The same, for rules that add to one list of errors. */
export function addDescendingPath(errors: FieldError[], target: string, path: string): void {
  if (target.startsWith('/') || target.includes('..')) errors.push(...validateDescendingPath(target, path));
}

/** Names that start with `..` are the kubelet's own, for its atomic updates of volumes. */
export function validateUnreservedPath(target: string, path: string): FieldError[] {
  return [
    ...validateDescendingPath(target, path),
    ...(target.startsWith('..') && !target.startsWith('../')
      ? [invalidValue(path, target, "must not start with '..'")]
      : []),
  ];
}

const MAX_MODE = 0o777;

export function validateFileMode(mode: unknown, path: string): FieldError[] {
  return typeof mode === 'number' && (mode < 0 || mode > MAX_MODE)
    ? [invalidValue(path, mode, 'must be a number between 0 and 0777 (octal), both inclusive')]
    : [];
}
