import type { ApiObject, JsonObject } from '../../api/object-meta.ts';
import { part, parts, text } from '../../object/parts.ts';
import { formatQuantity, parseQuantity } from '../../object/quantity.ts';

/**
 * Defaults of pods that depend on other fields (Kubernetes: apis/core/v1/defaults.go). Constants are in the IDL. All change
 * the spec in place.
 */

/** Of a pod, over what every pod spec gets. A template leaves these open to the pods made of it. */
export function defaultPod(pod: ApiObject): void {
  const spec = part(pod, 'spec');
  defaultPodSpec(spec);
  spec.enableServiceLinks ??= true;
  for (const container of [...parts(spec, 'containers'), ...parts(spec, 'initContainers')]) {
    requestLimits(container);
    if (spec.hostNetwork === true) takeHostPorts(container);
  }
}

/** The pod spec inside `spec.template`. */
export function defaultPodTemplate(spec: JsonObject): void {
  const template = part(spec, 'template');
  if (template.spec !== undefined) defaultPodSpec(part(template, 'spec'));
}

/** For pods and the templates of everything that makes pods. */
export function defaultPodSpec(spec: JsonObject): void {
  for (const list of ['initContainers', 'containers', 'ephemeralContainers']) {
    for (const container of parts(spec, list)) defaultContainer(container);
  }
  const account = text(spec.serviceAccountName, text(spec.serviceAccount));
  if (account !== '') {
    spec.serviceAccountName = account;
    spec.serviceAccount = account;
  }
  for (const volume of parts(spec, 'volumes')) defaultVolume(volume);
  roundUp(part(spec, 'overhead'));
}

function defaultContainer(container: JsonObject): void {
  if (text(container.imagePullPolicy) === '') container.imagePullPolicy = pullPolicy(text(container.image));
  roundUp(part(container, 'resources', 'limits'));
  roundUp(part(container, 'resources', 'requests'));
}

function defaultVolume(volume: JsonObject): void {
  if (Object.keys(volume).every((field) => field === 'name')) volume.emptyDir = {};
  const image = part(volume, 'image');
  if (volume.image !== undefined && text(image.pullPolicy) === '')
    image.pullPolicy = pullPolicy(text(image.reference));
}

/** What moves is looked up each time: the tag `latest`, which is meant where neither tag nor digest is given. */
function pullPolicy(image: string): 'Always' | 'IfNotPresent' {
  const [name = '', digest = ''] = image.split('@');
  const tag = /:([^/:]+)$/.exec(name)?.[1] ?? (digest === '' && name !== '' ? 'latest' : '');
  return tag === 'latest' ? 'Always' : 'IfNotPresent';
}

const MILLI = 1_000_000n;

/** Nothing is asked for in less than thousandths; canonical quantities show by their suffix that they are finer. */
function roundUp(amounts: JsonObject): void {
  for (const name of Object.keys(amounts)) {
    const amount = text(amounts[name]);
    const quantity = amount.endsWith('n') || amount.endsWith('u') ? parseQuantity(amount) : undefined;
    if (quantity === undefined || quantity.nanos <= 0n) continue;
    amounts[name] = formatQuantity({ ...quantity, nanos: ((quantity.nanos + MILLI - 1n) / MILLI) * MILLI });
  }
}

/** Who sets a limit and no request wants all of it. */
function requestLimits(container: JsonObject): void {
  const resources = part(container, 'resources');
  const limits = part(resources, 'limits');
  if (Object.keys(limits).length > 0) resources.requests = { ...limits, ...part(resources, 'requests') };
}

function takeHostPorts(container: JsonObject): void {
  for (const port of parts(container, 'ports')) {
    if (port.hostPort === undefined && port.containerPort !== undefined) port.hostPort = port.containerPort;
  }
}
