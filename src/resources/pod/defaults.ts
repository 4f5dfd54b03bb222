import { defaultGates, type Gates, minorOf } from '../../api/feature-gates.ts';
import type { ObjectMeta } from '../../api/object-meta.ts';
import type {
  Container,
  ContainerPort,
  EphemeralContainer,
  Pod,
  PodSpec,
  PodTemplateSpec,
  Volume,
} from '../../api/types/core/v1.ts';
import { containerResources, isPodResource, statesResources } from '../../object/pod-resources.ts';
import { formatQuantity } from '../../object/quantity.ts';
import { canOvercommit, isHugePages } from '../../object/resource-list.ts';
import { roundUpToMilli } from '../rules/numbers.ts';

/**
 * Defaults of pods that depend on other fields (Kubernetes: apis/core/v1/defaults.go). Constants are in the IDL. All change
 * the spec in place.
 */

/** Sets defaults of pods beyond those of pod specs. Templates leave these to their pods. */
export function defaultPod({ metadata, spec = {} }: Pod, isOn: Gates = defaultGates): void {
  dropDeadAnnotations(metadata);
  defaultPodSpec(spec);
  if ((spec.terminationGracePeriodSeconds ?? 0) < 0) spec.terminationGracePeriodSeconds = 1;
  spec.enableServiceLinks ??= true;
  // 1.33 leaves the default to the node agent.
  const statesPolicy = isOn('InPlacePodVerticalScaling') && minorOf(isOn) < 33;
  for (const container of spec.containers ?? []) if (statesPolicy) defaultResizePolicy(container);
  for (const container of [...(spec.containers ?? []), ...(spec.initContainers ?? [])]) {
    requestLimits(container);
    if (spec.hostNetwork === true) takeHostPorts(container.ports ?? []);
  }
  if (isOn('PodLevelResources')) defaultPodResources(spec);
}

/** The pod spec inside of `template`. */
export function defaultPodTemplate({ template }: { readonly template?: PodTemplateSpec }): void {
  dropDeadAnnotations(template?.metadata);
  if (template?.spec !== undefined) defaultPodSpec(template.spec);
}

/** Init containers were annotations before 1.6. An old node agent would run these instead of the spec's. */
const DEAD_ANNOTATIONS = ['alpha', 'beta'].flatMap((stage) =>
  ['init-containers', 'init-container-statuses'].map((name) => `pod.${stage}.kubernetes.io/${name}`),
);

function dropDeadAnnotations(metadata: ObjectMeta | undefined): void {
  for (const name of DEAD_ANNOTATIONS) delete metadata?.annotations?.[name];
}

/** For pods and the templates of everything that makes pods. */
export function defaultPodSpec(spec: PodSpec): void {
  for (const list of ['initContainers', 'containers', 'ephemeralContainers'] as const)
    for (const container of spec[list] ?? []) defaultContainer(container);
  const account = spec.serviceAccountName || spec.serviceAccount || '';
  if (account !== '') {
    spec.serviceAccountName = account;
    spec.serviceAccount = account;
  }
  for (const volume of spec.volumes ?? []) defaultVolume(volume);
  if (spec.overhead !== undefined) roundUpToMilli(spec.overhead);
}

function defaultContainer(container: Container | EphemeralContainer): void {
  const { imagePullPolicy = '', image = '', resources } = container;
  if (imagePullPolicy === '') container.imagePullPolicy = pullPolicy(image);
  if (resources?.limits !== undefined) roundUpToMilli(resources.limits);
  if (resources?.requests !== undefined) roundUpToMilli(resources.requests);
}

function defaultVolume(volume: Volume): void {
  const { name: _, ...source } = volume;
  if (Object.keys(source).length === 0) volume.emptyDir = {};
  const { image } = volume;
  if (image !== undefined && (image.pullPolicy ?? '') === '')
    image.pullPolicy = pullPolicy(image.reference ?? '');
}

/** The tag `latest` moves, so it is pulled each time; an image without tag and digest has it. */
function pullPolicy(image: string): 'Always' | 'IfNotPresent' {
  const [name = '', digest = ''] = image.split('@');
  const tag = /:([^/:]+)$/.exec(name)?.[1] ?? (digest === '' && name !== '' ? 'latest' : '');
  return tag === 'latest' ? 'Always' : 'IfNotPresent';
}

/** Resources that a running container can change. */
const RESIZABLE = ['cpu', 'memory'];

function defaultResizePolicy(container: Container): void {
  const { resources: { requests = {}, limits = {} } = {}, resizePolicy = [] } = container;
  const said = new Set(resizePolicy.map(({ resourceName }) => resourceName));
  const added = RESIZABLE.filter((name) => !said.has(name) && (name in requests || name in limits));
  if (added.length === 0) return;
  const policies = added.map((resourceName) => ({ resourceName, restartPolicy: 'NotRequired' }));
  container.resizePolicy = [...resizePolicy, ...policies];
}

/** A container with a limit and no request requests the limit. */
function requestLimits({ resources }: Container): void {
  const { limits = {}, requests } = resources ?? {};
  if (resources !== undefined && Object.keys(limits).length > 0)
    resources.requests = { ...limits, ...requests };
}

/**
 * A pod that states a part of its resources: its huge pages are limited to what its containers may use, and it requests what its
 * containers do, or else what it is limited to. `spec` has the defaults of its containers.
 */
function defaultPodResources(spec: PodSpec): void {
  const { resources } = spec;
  if (resources === undefined || !statesResources(spec)) return;
  const limits = { ...resources.limits };
  for (const [name, quantity] of containerResources(spec, 'limits'))
    if (isHugePages(name) && resources.requests?.[name] === undefined)
      limits[name] ??= formatQuantity(quantity);
  if (Object.keys(limits).length === 0) return;
  const requests = { ...resources.requests };
  for (const [name, quantity] of containerResources(spec, 'requests'))
    if (isPodResource(name) && canOvercommit(name)) requests[name] ??= formatQuantity(quantity);
  for (const [name, limit] of Object.entries(limits)) if (isPodResource(name)) requests[name] ??= limit;
  spec.resources = { ...resources, limits, requests };
}

function takeHostPorts(ports: readonly ContainerPort[]): void {
  for (const port of ports)
    if (port.hostPort === undefined && port.containerPort !== undefined) port.hostPort = port.containerPort;
}
