import type { PodSchedulingContext } from '../../../api/types/resource/v1alpha3.ts';
import type { FieldPath } from '../../../object/field-path.ts';
import { age } from '../../cells.ts';
import { column, define, nameColumn } from '../../define.ts';
import { checked } from '../../rules/checked.ts';
import { mustBeName } from '../../rules/name-rules.ts';
import { mustBeDistinct, mustHaveAtMost } from '../device-names.ts';

export const podschedulingcontexts = define<PodSchedulingContext>({
  group: 'resource.k8s.io',
  resource: 'podschedulingcontexts',
  kind: 'PodSchedulingContext',
  namespaced: true,
  versions: [
    {
      version: 'v1alpha3',
      type: 'resource/v1alpha3.PodSchedulingContext',
      enabledByDefault: false,
      until: 32,
    },
  ],
  emptyStatus: {},
  statusResets: [['spec'], ['metadata']],
  validateStatus: checked(validateStatus),
  table: {
    columns: [nameColumn(), column('SelectedNode'), column('Age')],
    cells: (context, now) => [
      context.metadata.name ?? '',
      context.spec?.selectedNode ?? '',
      age(context, now),
    ],
  },
  strategy: {
    returnsDeletedObject: true,
    validate: checked((at, { spec = {} }) =>
      validateNodes(at.field('spec').field('potentialNodes'), spec.potentialNodes ?? []),
    ),
  },
});

const MAX_NODES = 128;

function validateNodes(at: FieldPath, nodes: readonly string[]): void {
  for (const [path, node] of at.each(nodes)) mustBeName(path, node, 'dns-subdomain');
  mustHaveAtMost(at, MAX_NODES, nodes);
  mustBeDistinct(at, nodes);
}

/** Kubernetes calls the list `claims` here. */
function validateStatus(root: FieldPath, { status = {} }: PodSchedulingContext): void {
  const claims = root.field('status').field('claims');
  const seen = new Set<string>();
  for (const [path, { name = '', unsuitableNodes = [] }] of claims.each(status.resourceClaims)) {
    validateNodes(path.field('unsuitableNodes'), unsuitableNodes);
    if (seen.has(name)) path.duplicate(name);
    seen.add(name);
  }
}
