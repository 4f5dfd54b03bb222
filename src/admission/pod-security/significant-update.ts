import type { Container, EphemeralContainer, Pod } from '../../api/types/core/v1.ts';

/**
 * Whether an update of a pod is one that the policy is asked about: containers come, or get another image. Nothing else that
 * can change in a pod could make it worse, and what was allowed once must stay able to end.
 */
export function isSignificant({ spec = {} }: Pod, { spec: old = {} }: Pod): boolean {
  return (
    differ(spec.containers ?? [], old.containers ?? []) ||
    differ(spec.initContainers ?? [], old.initContainers ?? []) ||
    addsEphemeral(spec.ephemeralContainers ?? [], old.ephemeralContainers ?? [])
  );
}

const differ = (containers: readonly Container[], old: readonly Container[]): boolean =>
  containers.length !== old.length || containers.some(({ image }, at) => image !== old[at]?.image);

const addsEphemeral = (
  containers: readonly EphemeralContainer[],
  old: readonly EphemeralContainer[],
): boolean =>
  containers.some(({ name, image }) => {
    const before = old.find((one) => one.name === name);
    return before === undefined || before.image !== image;
  });
