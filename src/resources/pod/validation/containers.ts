import type { JsonObject } from '../../../api/object-meta.ts';
import type { FieldError } from '../../../api/status.ts';
import {
  duplicate,
  forbiddenField,
  invalidValue,
  notSupported,
  required,
} from '../../../object/field-errors.ts';
import { part, parts, text } from '../../cells.ts';
import { each, validateName } from '../../validation/values.ts';
import { validateEnv, validateEnvFrom } from './env.ts';
import { validateHostPorts, validatePorts } from './ports.ts';
import { validateProbesAndHooks } from './probes.ts';
import { validateResources } from './resource-requirements.ts';
import { validateSecurityContext } from './security-context.ts';
import { validateDevices, validateMounts } from './volume-mounts.ts';

/** What the pod has that its containers depend on. */
export interface PodContext {
  readonly volumes: ReadonlyMap<string, JsonObject>;
  readonly claimNames: ReadonlySet<string>;
  readonly gracePeriodSeconds: number;
  readonly restartPolicy: string;
  readonly hostUsers: boolean;
}

/** The programs that run for as long as the pod does. */
export function validateContainers(
  containers: readonly JsonObject[],
  path: string,
  pod: PodContext,
): FieldError[] {
  if (containers.length === 0) return [required(path)];
  const names = new Set<string>();
  return [
    ...each(containers, path, (container, at) => [
      ...validateContainer(container, at, pod),
      ...validateUnique(text(container.name), `${at}.name`, names),
      ...validateProbesAndHooks(container, at, pod.gracePeriodSeconds),
      ...(container.restartPolicy === undefined
        ? []
        : [forbiddenField(`${at}.restartPolicy`, 'may not be set for non-init containers')]),
    ]),
    ...validateHostPorts(containers, path),
  ];
}

function validateUnique(name: string, path: string, names: Set<string>): FieldError[] {
  if (name !== '' && names.has(name)) return [duplicate(path, name)];
  names.add(name);
  return [];
}

const OF_RUNNING = ['lifecycle', 'livenessProbe', 'readinessProbe', 'startupProbe'];

/** Programs that run before the others, or beside them when they are always restarted. */
export function validateInitContainers(spec: JsonObject, path: string, pod: PodContext): FieldError[] {
  const names = new Set(parts(spec, 'containers').map(({ name }) => text(name)));
  return each(parts(spec, 'initContainers'), path, (container, at) => [
    ...validateContainer(container, at, pod),
    ...validateInitRestartPolicy(container, `${at}.restartPolicy`),
    ...validateUnique(text(container.name), `${at}.name`, names),
    ...validateHostPorts([container], path),
    ...(container.restartPolicy === 'Always'
      ? validateProbesAndHooks(container, at, pod.gracePeriodSeconds)
      : OF_RUNNING.filter((field) => container[field] !== undefined).map((field) => {
          const why = 'may not be set for init containers without restartPolicy=Always';
          return forbiddenField(`${at}.${field}`, why);
        })),
    ...(parts(container, 'resizePolicy').length === 0
      ? []
      : [invalidValue(`${at}.resizePolicy`, container.resizePolicy, 'must not be set for init containers')]),
  ]);
}

function validateInitRestartPolicy({ restartPolicy }: JsonObject, path: string): FieldError[] {
  return restartPolicy === undefined || restartPolicy === 'Always'
    ? []
    : [notSupported(path, restartPolicy, ['Always'])];
}

/** What holds for every container, however it runs. */
export function validateContainer(container: JsonObject, path: string, pod: PodContext): FieldError[] {
  const name = text(container.name);
  return [
    ...(name === '' ? [required(`${path}.name`)] : validateName(`${path}.name`, name, 'dns-label')),
    ...['image', 'terminationMessagePolicy', 'imagePullPolicy']
      .filter((field) => text(container[field]) === '')
      .map((field) => required(`${path}.${field}`)),
    ...validatePorts(parts(container, 'ports'), `${path}.ports`),
    ...validateEnv(parts(container, 'env'), `${path}.env`),
    ...validateEnvFrom(parts(container, 'envFrom'), `${path}.envFrom`),
    ...validateMounts(container, path, pod.volumes),
    ...validateDevices(container, path, pod.volumes),
    ...validateResources(part(container, 'resources'), `${path}.resources`, pod.claimNames),
    ...validateResizePolicy(parts(container, 'resizePolicy'), `${path}.resizePolicy`, pod.restartPolicy),
    ...validateSecurityContext(part(container, 'securityContext'), `${path}.securityContext`, pod.hostUsers),
  ];
}

const RESIZABLE = ['cpu', 'memory'];
const RESIZE_POLICIES = ['NotRequired', 'RestartContainer'];

function validateResizePolicy(
  policies: readonly JsonObject[],
  path: string,
  restartPolicy: string,
): FieldError[] {
  const seen = new Set<string>();
  return each(policies, path, (policy, at) => {
    const resource = text(policy.resourceName);
    const restart = text(policy.restartPolicy);
    const errors = seen.has(resource) ? [duplicate(at, resource)] : [];
    seen.add(resource);
    if (resource !== '' && !RESIZABLE.includes(resource))
      errors.push(notSupported(path, resource, RESIZABLE));
    if (restart !== '' && !RESIZE_POLICIES.includes(restart))
      errors.push(notSupported(path, restart, RESIZE_POLICIES));
    if (restartPolicy === 'Never' && restart !== 'NotRequired')
      errors.push(invalidValue(path, restart, "must be 'NotRequired' when `restartPolicy` is 'Never'"));
    return errors;
  });
}

/** Only pods are strict about this: templates made before the rule must stay usable. */
export function validateImageText(container: JsonObject, path: string): FieldError[] {
  const image = text(container.image);
  return image === image.trim()
    ? []
    : [invalidValue(`${path}.image`, image, 'must not have leading or trailing whitespace')];
}
