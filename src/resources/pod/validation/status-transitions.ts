import type { Container, ContainerStatus, Pod, PodSpec, PodStatus } from '../../../api/types/core/v1.ts';
import type { FieldPath } from '../../../object/field-path.ts';
import { isSidecar } from '../../../object/pod-resources.ts';

/** A container that ended for good cannot be running again. `at` is the status. */
export function validateTransitions(
  at: FieldPath,
  status: PodStatus,
  { spec = {}, status: old = {} }: Pod,
): void {
  const mayRestart = at.isOn('ContainerRestartRules') ? byRules(at, spec) : byPolicy(spec);
  for (const list of LISTS)
    refuseRevival(at.field(list), status[list] ?? [], {
      old: old[list] ?? [],
      mayRestart: (name, exitCode) => mayRestart(list, name, exitCode),
    });
}

const LISTS = ['containerStatuses', 'initContainerStatuses', 'ephemeralContainerStatuses'] as const;

type MayRestart = (list: (typeof LISTS)[number], name: string, exitCode: number) => boolean;

interface Ending {
  readonly old: readonly ContainerStatus[];
  readonly mayRestart: (name: string, exitCode: number) => boolean;
}

function refuseRevival(
  at: FieldPath,
  statuses: readonly ContainerStatus[],
  { old, mayRestart }: Ending,
): void {
  for (const [path, { name = '', state }] of at.each(old)) {
    if (state?.terminated === undefined || mayRestart(name, state.terminated.exitCode ?? 0)) continue;
    const isRevived = statuses.some((now) => now.name === name && now.state?.terminated === undefined);
    if (isRevived) path.field('state').forbidden('may not be transitioned to non-terminated state');
  }
}

const follows = (policy: string | undefined, exitCode: number): boolean =>
  policy === 'Always' || (policy === 'OnFailure' && exitCode !== 0);

/** The policy of the pod, with sidecars as the exception. */
function byPolicy({ restartPolicy, initContainers }: PodSpec): MayRestart {
  const sidecars = new Set((initContainers ?? []).filter(isSidecar).map(({ name = '' }) => name));
  return (list, name, exitCode) =>
    list !== 'ephemeralContainerStatuses' &&
    ((list === 'initContainerStatuses' && sidecars.has(name)) || follows(restartPolicy, exitCode));
}

/** The rules and the policy of the container itself come first (feature ContainerRestartRules). */
function byRules({ isOn }: FieldPath, spec: PodSpec): MayRestart {
  const containersOf = {
    containerStatuses: spec.containers ?? [],
    initContainerStatuses: spec.initContainers ?? [],
    ephemeralContainerStatuses: [],
  };
  const find = (list: (typeof LISTS)[number], name: string): Container | undefined =>
    containersOf[list].find((container) => container.name === name);
  const restartsAll = isOn('RestartAllContainersOnContainerExits') && mayRestartAll(spec);
  return (list, name, exitCode) => {
    if (restartsAll && list !== 'ephemeralContainerStatuses') return true;
    const container = find(list, name);
    if (container === undefined) return false;
    if (actionOf(container, exitCode) === 'Restart') return true;
    return follows(container.restartPolicy ?? spec.restartPolicy, exitCode);
  };
}

/** Whether a rule of any container restarts all of them, for some exit code. */
const mayRestartAll = ({ containers, initContainers }: PodSpec): boolean =>
  [...(containers ?? []), ...(initContainers ?? [])].some(({ restartPolicyRules = [] }) =>
    restartPolicyRules.some(({ action }) => action === 'RestartAllContainers'),
  );

/** What the first rule that matches says; undefined: no rule does. */
function actionOf(container: Container, exitCode: number): string | undefined {
  if (container.restartPolicy === undefined) return undefined;
  return container.restartPolicyRules?.find(({ exitCodes }) => {
    const isIn = (exitCodes?.values ?? []).includes(exitCode);
    return exitCodes?.operator === 'NotIn' ? !isIn : isIn;
  })?.action;
}
