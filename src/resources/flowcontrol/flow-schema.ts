import type { ApiObject } from '../../api/object-meta.ts';
import { count, part, parts, text } from '../../object/parts.ts';
import { age, NONE } from '../cells.ts';
import { column, define, nameColumn } from '../define.ts';
import { has } from '../validation/fields.ts';
import { validateConditionTypes } from './conditions.ts';
import { validateFlowSchema } from './validate-schema.ts';

export const flowschemas = define({
  group: 'flowcontrol.apiserver.k8s.io',
  resource: 'flowschemas',
  kind: 'FlowSchema',
  namespaced: false,
  versions: [
    { version: 'v1', type: 'flowcontrol/v1.FlowSchema' },
    { version: 'v1beta3', type: 'flowcontrol/v1beta3.FlowSchema' },
  ],
  emptyStatus: {},
  statusResets: [['spec'], ['metadata']],
  validateStatus: validateConditionTypes,
  table: {
    columns: [
      nameColumn(),
      column('PriorityLevel'),
      column('MatchingPrecedence'),
      column('DistinguisherMethod'),
      column('Age'),
      column('MissingPL'),
    ],
    cells: (schema, now) => {
      const spec = part(schema, 'spec');
      return [
        schema.metadata.name ?? '',
        text(part(spec, 'priorityLevelConfiguration').name),
        count(spec.matchingPrecedence),
        has(spec, 'distinguisherMethod') ? text(part(spec, 'distinguisherMethod').type) : NONE,
        age(schema, now),
        danglingText(schema),
      ];
    },
  },
  strategy: {
    nameRule: 'dns-subdomain',
    tracksGeneration: true,
    allowCreateOnUpdate: false,
    allowUnconditionalUpdate: true,
    validate: validateFlowSchema,
  },
});

/** Whether the priority level is missing; nobody knows before a controller has looked. */
function danglingText(schema: ApiObject): string {
  const dangling = parts(part(schema, 'status'), 'conditions').find(({ type }) => type === 'Dangling');
  return dangling === undefined ? '?' : text(dangling.status);
}
