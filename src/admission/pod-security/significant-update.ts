import type { ApiObject, JsonObject } from '../../api/object-meta.ts';
import { objectsOf, part } from '../../object/parts.ts';

/**
 * Whether an update of a pod is one that the policy is asked about: containers come, or get another image. Nothing else that
 * can change in a pod could make it worse, and what was allowed once must stay able to end.
 */
export function isSignificant(pod: ApiObject, old: ApiObject): boolean {
  const spec = part(pod, 'spec');
  const oldSpec = part(old, 'spec');
  return (
    differ(objectsOf(spec.containers), objectsOf(oldSpec.containers)) ||
    differ(objectsOf(spec.initContainers), objectsOf(oldSpec.initContainers)) ||
    addsEphemeral(objectsOf(spec.ephemeralContainers), objectsOf(oldSpec.ephemeralContainers))
  );
}

const differ = (containers: readonly JsonObject[], old: readonly JsonObject[]): boolean =>
  containers.length !== old.length || containers.some(({ image }, at) => image !== old[at]?.image);

const addsEphemeral = (containers: readonly JsonObject[], old: readonly JsonObject[]): boolean =>
  containers.some(({ name, image }) => {
    const before = old.find((one) => one.name === name);
    return before === undefined || before.image !== image;
  });
