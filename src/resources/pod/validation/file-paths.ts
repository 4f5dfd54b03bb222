import type { FieldPath } from '../../../object/field-path.ts';

/** Paths of files inside volumes and containers. */

/** May not climb: one `..` among its parts is enough to be refused. */
export function mustNotClimb(at: FieldPath, target: string): void {
  if (hasBacksteps(target)) at.invalid(target, "must not contain '..'");
}

export const hasBacksteps = (target: string): boolean =>
  target.includes('..') && target.split('/').includes('..');

/** Relative, and never above where it starts. */
export function mustDescend(at: FieldPath, target: string): void {
  if (target.startsWith('/')) at.invalid(target, 'must be a relative path');
  mustNotClimb(at, target);
}

/** Names that start with `..` are the kubelet's own, for its atomic updates of volumes. */
export function mustBeUnreserved(at: FieldPath, target: string): void {
  mustDescend(at, target);
  if (target.startsWith('..') && !target.startsWith('../')) at.invalid(target, "must not start with '..'");
}

const MAX_MODE = 0o777;

export function mustBeFileMode(at: FieldPath, mode: number | undefined): void {
  if (mode !== undefined && (mode < 0 || mode > MAX_MODE))
    at.invalid(mode, 'must be a number between 0 and 0777 (octal), both inclusive');
}
