import type { ApiObject } from '../../api/object-meta.ts';
import { part, text } from '../../object/parts.ts';
import { nodeProxy } from '../connect/proxies.ts';
import { column, define, nameColumn } from '../define.ts';
import { roundUpToMilli } from '../validation/quantity-values.ts';
import { strings } from '../validation/values.ts';
import { nodeCells } from './node-cells.ts';
import { validateNode, validateNodeStatus, validateNodeUpdate } from './validate-node.ts';

export const nodes = define({
  group: '',
  resource: 'nodes',
  kind: 'Node',
  namespaced: false,
  shortNames: ['no'],
  versions: [{ version: 'v1', type: 'core/v1.Node' }],
  emptyStatus: {},
  subresources: [nodeProxy],
  prepareStatus,
  validateStatus: validateNodeStatus,
  table: {
    columns: [
      nameColumn(),
      column('Status'),
      column('Roles'),
      column('Age'),
      column('Version'),
      column('Internal-IP', 1),
      column('External-IP', 1),
      column('OS-Image', 1),
      column('Kernel-Version', 1),
      column('Container-Runtime', 1),
    ],
    cells: nodeCells,
  },
  fields: {
    paths: {
      'spec.unschedulable': ['spec.unschedulable'],
    },
    // Nodes that say nothing of it are schedulable, and selected as such.
    absent: { 'spec.unschedulable': 'false' },
  },
  strategy: {
    nameRule: 'dns-subdomain',
    tracksGeneration: false,
    allowCreateOnUpdate: false,
    allowUnconditionalUpdate: true,
    defaults: (node) => {
      fillPodRanges(node);
      fillAllocatable(node);
    },
    // A node agent registers its node with the status it has.
    prepareForCreate: (node) => {
      delete part(node, 'spec').configSource;
      const status = part(node, 'status');
      delete status.config;
      delete status.features;
    },
    prepareForUpdate: (node, old) => {
      if (part(old, 'spec').configSource === undefined) delete part(node, 'spec').configSource;
    },
    validate: validateNode,
    judgesAlone: ['spec.taints'],
    validateUpdate: validateNodeUpdate,
    warnings,
  },
});

function prepareStatus(node: ApiObject, old: ApiObject): void {
  const status = { ...part(node, 'status') };
  if (part(old, 'status').config === undefined) delete status.config;
  node.status = status;
  fillAllocatable(node);
}

/** The singular is of times when there was one; where both differ it counts, because old clients know no other. */
function fillPodRanges(node: ApiObject): void {
  const spec = part(node, 'spec');
  const [first] = strings(spec, 'podCIDRs');
  const single = text(spec.podCIDR);
  if (single !== '' && single !== first) spec.podCIDRs = [single];
  else if (first !== undefined) spec.podCIDR = first;
}

/** Without a word of what pods may have, it is everything. */
function fillAllocatable(node: ApiObject): void {
  const status = part(node, 'status');
  if (status.capacity !== undefined) status.allocatable ??= { ...part(status, 'capacity') };
  roundUpToMilli(part(status, 'capacity'));
  roundUpToMilli(part(status, 'allocatable'));
}

function warnings(node: ApiObject): string[] {
  const spec = part(node, 'spec');
  return [
    ...(spec.configSource === undefined ? [] : ['spec.configSource: the feature is removed']),
    ...(text(spec.externalID) === ''
      ? []
      : ['spec.externalID: this field is deprecated, and is unused by Kubernetes']),
  ];
}
