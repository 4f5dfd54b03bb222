import { defaultGates, type Gates, minorOf } from '../../api/feature-gates.ts';
import type { Container, Pod, PodSpec } from '../../api/types/core/v1.ts';
import { statedBy } from '../../object/metadata.ts';
import type { ViewSubresource } from '../../registry/resource-definition.ts';
import { checkedUpdate } from '../rules/checked.ts';
import { defaultPod } from './defaults.ts';
import { proposeResize } from './preparation.ts';
import { validatePodResize } from './validation/pod-resize.ts';

/** Changes what the containers of a running pod may use, without other changes. Its node agent carries it out. */
export const resize: ViewSubresource<Pod> = {
  access: 'view',
  name: 'resize',
  served: { group: '', version: 'v1', kind: 'Pod' },
  type: 'core/v1.Pod',
  verbs: ['get', 'patch', 'update'],
  since: 32,
  read: (pod) => pod,
  write: takeResources,
  validate: checkedUpdate(validatePodResize),
};

function takeResources(view: Pod, old: Pod, isOn: Gates = defaultGates): Pod {
  // Defaults of whole pods are not filled in on writes of views.
  defaultPod(view, isOn);
  const { spec = {} } = view;
  const before = old.spec ?? {};
  const resized: Pod = {
    ...old,
    metadata: { ...old.metadata, ...statedBy(view.metadata) },
    // Validation refuses containers that came, went, or have other names.
    spec: hasSameContainers(spec, before) ? withResources(spec, before, isOn) : spec,
  };
  // Later versions leave it to the node agent to say what it thinks of a resize.
  if (minorOf(isOn) === 32) proposeResize(resized, old, isOn);
  return resized;
}

const LISTS = ['containers', 'initContainers'] as const;

const namesIn = (containers: readonly Container[] | null | undefined): string =>
  JSON.stringify((containers ?? []).map(({ name }) => name));

const hasSameContainers = (spec: PodSpec, before: PodSpec): boolean =>
  LISTS.every((list) => namesIn(spec[list]) === namesIn(before[list]));

/** The old spec with the new resources. Sidecars can be resized since 1.33, pods as a whole by a feature of its own. */
function withResources(spec: PodSpec, before: PodSpec, isOn: Gates): PodSpec {
  const resized: PodSpec = { ...before };
  for (const list of minorOf(isOn) === 32 ? (['containers'] as const) : LISTS) {
    const containers = before[list]?.map((container, at) => takeFrom(spec[list]?.[at] ?? {}, container));
    if (containers !== undefined) resized[list] = containers;
  }
  if (!isOn('InPlacePodLevelResourcesVerticalScaling')) return resized;
  const { resources: _, ...rest } = resized;
  return spec.resources === undefined ? rest : { ...rest, resources: spec.resources };
}

function takeFrom({ resources, resizePolicy }: Container, before: Container): Container {
  const { resources: _, resizePolicy: __, ...kept } = before;
  return {
    ...kept,
    ...(resources === undefined ? {} : { resources }),
    ...(resizePolicy === undefined ? {} : { resizePolicy }),
  };
}
