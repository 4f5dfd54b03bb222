import { minorOf } from '../../../api/feature-gates.ts';
import type { Container, ContainerResizePolicy, PodSpec, Volume } from '../../../api/types/core/v1.ts';
import type { FieldPath } from '../../../object/field-path.ts';
import { mustBeNamed, UniqueNames } from '../../rules/name-rules.ts';
import { validateResources } from './container-resources.ts';
import { validateEnv, validateEnvFrom } from './environment-variables.ts';
import { validateHostPorts, validatePorts } from './ports.ts';
import { validateProbesAndHooks, validateStopSignal } from './probes.ts';
import { validateInitRestarts, validateRestarts } from './restart-rules.ts';
import { validateSecurityContext } from './security-context.ts';
import { validateDevices, validateMounts } from './volume-mounts.ts';

/** Parts of the pod that its containers refer to. */
export interface PodContext {
  readonly volumes: ReadonlyMap<string, Volume>;
  readonly claimNames: ReadonlySet<string>;
  readonly gracePeriodSeconds: number;
  readonly restartPolicy: string;
  readonly hostUsers: boolean;
  /** `spec.os.name`; '' where it is not given. */
  readonly os: string;
}

/** The programs that run for as long as the pod does. */
export function validateContainers(at: FieldPath, containers: readonly Container[], pod: PodContext): void {
  if (containers.length === 0) at.required();
  const names = new UniqueNames();
  for (const [path, container] of at.each(containers)) {
    validateContainer(path, container, pod);
    names.add(path.field('name'), container.name ?? '');
    validateProbesAndHooks(path, container, pod.gracePeriodSeconds);
    if (hasRestartRules(path)) validateRestarts(path, container);
    else if (container.restartPolicy !== undefined)
      path.field('restartPolicy').forbidden('may not be set for non-init containers');
    validateStopSignal(path.field('lifecycle').field('stopSignal'), container.lifecycle, pod.os);
  }
  validateHostPorts(at, containers);
}

/** Programs that run before the others, or beside them when they are always restarted. */
export function validateInitContainers(at: FieldPath, spec: PodSpec, pod: PodContext): void {
  const names = new UniqueNames((spec.containers ?? []).map(({ name = '' }) => name));
  for (const [path, container] of at.each(spec.initContainers)) {
    const { name = '', restartPolicy, resizePolicy = [] } = container;
    validateContainer(path, container, pod);
    if (hasRestartRules(path)) validateInitRestarts(path, container);
    else if (restartPolicy !== undefined && restartPolicy !== 'Always')
      path.field('restartPolicy').notSupported(restartPolicy, ['Always']);
    names.add(path.field('name'), name);
    validateHostPorts(at, [container]);
    if (restartPolicy === 'Always') validateProbesAndHooks(path, container, pod.gracePeriodSeconds);
    else refuseProbesAndHooks(path, container);
    validateStopSignal(path.field('lifecycle').field('stopSignal'), container.lifecycle, pod.os);
    if (resizePolicy.length > 0 && !resizesSidecars(path))
      path.field('resizePolicy').invalid(resizePolicy, 'must not be set for init containers');
    if (restartPolicy !== 'Always' && path.minor >= 36)
      refuseRestarts(path.field('resizePolicy'), resizePolicy);
  }
}

/** A container that ends cannot be started again for its resources. */
function refuseRestarts(at: FieldPath, policies: readonly ContainerResizePolicy[]): void {
  for (const [path, { restartPolicy }] of at.each(policies))
    if (restartPolicy === 'RestartContainer')
      path
        .field('restartPolicy')
        .invalid(restartPolicy, "must not be set to 'RestartContainer' for non-sidecar initContainers");
}

/** Sidecars can be resized since 1.33. */
const resizesSidecars = ({ isOn }: FieldPath): boolean =>
  isOn('InPlacePodVerticalScaling') && minorOf(isOn) >= 33;

const hasRestartRules = (at: FieldPath): boolean => at.isOn('ContainerRestartRules');

const PROBES_AND_HOOKS = ['lifecycle', 'livenessProbe', 'readinessProbe', 'startupProbe'] as const;

function refuseProbesAndHooks(at: FieldPath, container: Container): void {
  for (const field of PROBES_AND_HOOKS)
    if (container[field] !== undefined)
      at.field(field).forbidden('may not be set for init containers without restartPolicy=Always');
}

const TEXTS = ['image', 'terminationMessagePolicy', 'imagePullPolicy'] as const;

/** Rules of every container, of any kind. */
export function validateContainer(at: FieldPath, container: Container, pod: PodContext): void {
  mustBeNamed(at.field('name'), container.name ?? '', 'dns-label');
  for (const field of TEXTS) if ((container[field] ?? '') === '') at.field(field).required();
  const { ports, env, envFrom, resources, resizePolicy, securityContext } = container;
  validatePorts(at.field('ports'), ports);
  validateEnv(at.field('env'), env, pod.volumes);
  validateEnvFrom(at.field('envFrom'), envFrom);
  validateMounts(at.field('volumeMounts'), container, pod.volumes);
  validateDevices(at.field('volumeDevices'), container, pod.volumes);
  if (!pod.hostUsers && (container.volumeDevices ?? []).length > 0 && at.minor >= 34)
    at.field('volumeDevices').forbidden('when `hostUsers` is false');
  if (resources !== undefined) validateResources(at.field('resources'), resources, pod.claimNames);
  validateResizePolicy(at.field('resizePolicy'), resizePolicy, pod.restartPolicy);
  if (securityContext !== undefined)
    validateSecurityContext(at.field('securityContext'), securityContext, pod.hostUsers);
}

const RESIZABLE = ['cpu', 'memory'];
const RESIZE_POLICIES = ['NotRequired', 'RestartContainer'];

/** Messages are about the list, not the entry, as in Kubernetes. */
function validateResizePolicy(
  at: FieldPath,
  policies: readonly ContainerResizePolicy[] | undefined,
  restartPolicy: string,
): void {
  const seen = new Set<string>();
  for (const [path, { resourceName: resource = '', restartPolicy: restart = '' }] of at.each(policies)) {
    if (seen.has(resource)) path.duplicate(resource);
    seen.add(resource);
    if (resource !== '' && !RESIZABLE.includes(resource)) at.notSupported(resource, RESIZABLE);
    if (restart !== '' && !RESIZE_POLICIES.includes(restart)) at.notSupported(restart, RESIZE_POLICIES);
    if (restartPolicy === 'Never' && restart !== 'NotRequired')
      at.invalid(restart, "must be 'NotRequired' when `restartPolicy` is 'Never'");
  }
}

/** Only pods are strict about this: templates made before the rule must stay usable. */
export function mustBeTrimmedImage(at: FieldPath, { image = '' }: { readonly image?: string }): void {
  if (image !== image.trim())
    at.field('image').invalid(image, 'must not have leading or trailing whitespace');
}
