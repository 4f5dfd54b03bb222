import type { JsonObject } from '../../../api/object-meta.ts';
import type { FieldError } from '../../../api/status.ts';
import {
  duplicate,
  forbiddenField,
  invalidValue,
  notSupported,
  required,
} from '../../../object/field-errors.ts';
import { objectOf, objectsOf, text } from '../../../object/parts.ts';
import { addName, eachAt } from '../../validation/values.ts';
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
  errors: FieldError[],
): void {
  if (containers.length === 0) errors.push(required(path));
  const names = new Set<string>();
  eachAt(containers, path, (container, at) => {
    validateContainer(container, at, pod, errors);
    validateUnique(text(container.name), `${at}.name`, names, errors);
    validateProbesAndHooks(container, at, pod.gracePeriodSeconds, errors);
    if (container.restartPolicy !== undefined)
      errors.push(forbiddenField(`${at}.restartPolicy`, 'may not be set for non-init containers'));
  });
  validateHostPorts(containers, path, errors);
}

function validateUnique(name: string, path: string, names: Set<string>, errors: FieldError[]): void {
  if (name !== '' && names.has(name)) errors.push(duplicate(path, name));
  names.add(name);
}

const OF_RUNNING = ['lifecycle', 'livenessProbe', 'readinessProbe', 'startupProbe'];

/** Programs that run before the others, or beside them when they are always restarted. */
export function validateInitContainers(
  spec: JsonObject,
  path: string,
  pod: PodContext,
  errors: FieldError[],
): void {
  const names = new Set(objectsOf(spec.containers).map(({ name }) => text(name)));
  eachAt(objectsOf(spec.initContainers), path, (container, at) => {
    validateContainer(container, at, pod, errors);
    validateInitRestartPolicy(container, `${at}.restartPolicy`, errors);
    validateUnique(text(container.name), `${at}.name`, names, errors);
    validateHostPorts([container], path, errors);
    if (container.restartPolicy === 'Always')
      validateProbesAndHooks(container, at, pod.gracePeriodSeconds, errors);
    else refuseRunning(container, at, errors);
    if (objectsOf(container.resizePolicy).length > 0) {
      const why = 'must not be set for init containers';
      errors.push(invalidValue(`${at}.resizePolicy`, container.resizePolicy, why));
    }
  });
}

function validateInitRestartPolicy({ restartPolicy }: JsonObject, path: string, errors: FieldError[]): void {
  if (restartPolicy !== undefined && restartPolicy !== 'Always')
    errors.push(notSupported(path, restartPolicy, ['Always']));
}

function refuseRunning(container: JsonObject, path: string, errors: FieldError[]): void {
  for (const field of OF_RUNNING) {
    if (container[field] === undefined) continue;
    const why = 'may not be set for init containers without restartPolicy=Always';
    errors.push(forbiddenField(`${path}.${field}`, why));
  }
}

const TEXTS = ['image', 'terminationMessagePolicy', 'imagePullPolicy'];

/** What holds for every container, however it runs. */
export function validateContainer(
  container: JsonObject,
  path: string,
  pod: PodContext,
  errors: FieldError[],
): void {
  const name = text(container.name);
  if (name === '') errors.push(required(`${path}.name`));
  else addName(errors, `${path}.name`, name, 'dns-label');
  for (const field of TEXTS) if (text(container[field]) === '') errors.push(required(`${path}.${field}`));
  const { ports, env, envFrom, resources, resizePolicy, securityContext } = container;
  if (ports !== undefined) validatePorts(objectsOf(ports), `${path}.ports`, errors);
  if (env !== undefined) validateEnv(objectsOf(env), `${path}.env`, errors);
  if (envFrom !== undefined) validateEnvFrom(objectsOf(envFrom), `${path}.envFrom`, errors);
  if (container.volumeMounts !== undefined) validateMounts(container, path, pod.volumes, errors);
  if (container.volumeDevices !== undefined) validateDevices(container, path, pod.volumes, errors);
  if (resources !== undefined)
    validateResources(objectOf(resources), `${path}.resources`, pod.claimNames, errors);
  if (resizePolicy !== undefined)
    validateResizePolicy(objectsOf(resizePolicy), `${path}.resizePolicy`, pod.restartPolicy, errors);
  if (securityContext !== undefined)
    validateSecurityContext(objectOf(securityContext), `${path}.securityContext`, pod.hostUsers, errors);
}

const RESIZABLE = ['cpu', 'memory'];
const RESIZE_POLICIES = ['NotRequired', 'RestartContainer'];

function validateResizePolicy(
  policies: readonly JsonObject[],
  path: string,
  restartPolicy: string,
  errors: FieldError[],
): void {
  const seen = new Set<string>();
  eachAt(policies, path, (policy, at) => {
    const resource = text(policy.resourceName);
    const restart = text(policy.restartPolicy);
    if (seen.has(resource)) errors.push(duplicate(at, resource));
    seen.add(resource);
    if (resource !== '' && !RESIZABLE.includes(resource))
      errors.push(notSupported(path, resource, RESIZABLE));
    if (restart !== '' && !RESIZE_POLICIES.includes(restart))
      errors.push(notSupported(path, restart, RESIZE_POLICIES));
    if (restartPolicy === 'Never' && restart !== 'NotRequired')
      errors.push(invalidValue(path, restart, "must be 'NotRequired' when `restartPolicy` is 'Never'"));
  });
}

/** Only pods are strict about this: templates made before the rule must stay usable. */
export function validateImageText(container: JsonObject, path: string, errors: FieldError[]): void {
  const image = text(container.image);
  if (image !== image.trim())
    errors.push(invalidValue(`${path}.image`, image, 'must not have leading or trailing whitespace'));
}
