import type { JsonObject } from '../../api/object-meta.ts';
import { part, parts, text } from '../cells.ts';

/**
 * Defaults of a pod spec that depend on other fields, for pods and the templates of everything that makes pods. Constants
 * are in the IDL. Changes the spec in place.
 */
export function defaultPodSpec(spec: JsonObject): void {
  for (const list of ['initContainers', 'containers', 'ephemeralContainers']) {
    for (const container of parts(spec, list)) defaultContainer(container, spec.hostNetwork === true);
  }
  if (text(spec.serviceAccountName) === '' && text(spec.serviceAccount) !== '')
    spec.serviceAccountName = text(spec.serviceAccount);
  if (text(spec.serviceAccountName) !== '') spec.serviceAccount = text(spec.serviceAccountName);
  for (const volume of parts(spec, 'volumes')) {
    if (Object.keys(volume).length === 1) volume.emptyDir = {};
  }
}

function defaultContainer(container: JsonObject, hostNetwork: boolean): void {
  if (text(container.imagePullPolicy) === '') {
    container.imagePullPolicy = isLatest(text(container.image)) ? 'Always' : 'IfNotPresent';
  }
  for (const port of parts(container, 'ports')) {
    if (hostNetwork && port.hostPort === undefined && port.containerPort !== undefined)
      port.hostPort = port.containerPort;
  }
  const limits = part(container, 'resources', 'limits');
  if (Object.keys(limits).length === 0) return;
  const resources = part(container, 'resources');
  resources.requests = { ...limits, ...part(resources, 'requests') };
}

/** An image without tag and digest means `latest`. */
function isLatest(image: string): boolean {
  if (image.includes('@')) return false;
  const tag = /:([^/:]+)$/.exec(image)?.[1];
  return tag === undefined || tag === 'latest';
}

/** The pod spec inside `spec.template`. */
export function defaultPodTemplate(spec: JsonObject): void {
  const template = part(spec, 'template');
  if (template.spec !== undefined) defaultPodSpec(part(template, 'spec'));
}
