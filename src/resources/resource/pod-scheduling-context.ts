import type { ApiObject } from '../../api/object-meta.ts';
import type { FieldError } from '../../api/status.ts';
import { duplicate, eachInvalid } from '../../object/field-errors.ts';
import { checkName } from '../../object/formats.ts';
import { part, parts, text } from '../../object/parts.ts';
import { age } from '../cells.ts';
import { column, define, nameColumn } from '../define.ts';
import { strings } from '../validation/values.ts';
import { validateDistinct, validateSize } from './validate-names.ts';

export const podschedulingcontexts = define({
  group: 'resource.k8s.io',
  resource: 'podschedulingcontexts',
  kind: 'PodSchedulingContext',
  namespaced: true,
  versions: [
    { version: 'v1alpha3', type: 'resource/v1alpha3.PodSchedulingContext', enabledByDefault: false },
  ],
  emptyStatus: {},
  statusResets: [['spec'], ['metadata']],
  validateStatus,
  table: {
    columns: [nameColumn(), column('SelectedNode'), column('Age')],
    cells: (context, now) => [
      context.metadata.name ?? '',
      text(part(context, 'spec').selectedNode),
      age(context, now),
    ],
  },
  strategy: {
    nameRule: 'dns-subdomain',
    tracksGeneration: false,
    allowCreateOnUpdate: false,
    allowUnconditionalUpdate: true,
    returnsDeletedObject: true,
    validate: (context) =>
      validateNodes(strings(part(context, 'spec'), 'potentialNodes'), 'spec.potentialNodes'),
  },
});

const MAX_NODES = 128;

function validateNodes(nodes: readonly string[], path: string): FieldError[] {
  return [
    ...nodes.flatMap((node, at) => eachInvalid(`${path}[${at}]`, node, checkName(node, 'dns-subdomain'))),
    ...validateSize(nodes, MAX_NODES, path),
    ...validateDistinct(nodes, (at) => `${path}[${at}]`),
  ];
}

/** Kubernetes calls the list `claims` here. */
function validateStatus(context: ApiObject): FieldError[] {
  const claims = parts(part(context, 'status'), 'resourceClaims');
  return claims.flatMap((claim, at) => {
    const path = `status.claims[${at}]`;
    const repeated = claims.findIndex(({ name }) => name === claim.name) < at;
    return [
      ...validateNodes(strings(claim, 'unsuitableNodes'), `${path}.unsuitableNodes`),
      ...(repeated ? [duplicate(path, text(claim.name))] : []),
    ];
  });
}
