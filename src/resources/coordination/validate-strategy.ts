import type { FieldError } from '../../api/status.ts';
import { eachInvalid, notSupported } from '../../object/field-errors.ts';
import { checkQualifiedName } from '../../object/formats.ts';

export const OLDEST_EMULATION_VERSION = 'OldestEmulationVersion';

/** How a leader is chosen: one way that Kubernetes knows, or a qualified name of somebody else's. */
export function validateLeaseStrategy(strategy: string, path: string): FieldError[] {
  const field = `${path}.strategy`;
  if (strategy.includes('/')) return eachInvalid(field, strategy, checkQualifiedName(strategy));
  return strategy === OLDEST_EMULATION_VERSION
    ? []
    : [notSupported(field, strategy, [OLDEST_EMULATION_VERSION])];
}
