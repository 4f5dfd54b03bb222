import type { Minor } from '../../api/emulation.ts';
import { forbidden, methodNotAllowed } from '../../api/status.ts';
import type { ResourceDefinition } from '../../registry/resource-definition.ts';
import { DEFAULT_MINOR } from '../../version.ts';

/**
 * A custom resource whose definition is being deleted gets no new objects. Kubernetes refuses them as a plugin does since 1.34
 * (crdHandler, forbidCreateAdmission); before, its path takes no POST, and applies go on.
 */
const AT_END = 'create not allowed while custom resource definition is terminating';

const isEnding = ({ custom }: ResourceDefinition): boolean => custom?.isEnding === true;
const isOld = (minor: Minor = DEFAULT_MINOR): boolean => minor < 34;

/** @throws StatusError 405 */
export function refuseMethodAtEnd(definition: ResourceDefinition, minor: Minor | undefined): void {
  if (isEnding(definition) && isOld(minor)) throw methodNotAllowed(AT_END);
}

/** @throws StatusError 403 */
export function refuseObjectAtEnd(
  definition: ResourceDefinition,
  name: string,
  minor: Minor | undefined,
): void {
  if (isEnding(definition) && !isOld(minor)) throw forbidden(definition, name, AT_END);
}
