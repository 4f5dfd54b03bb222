import type { FlowSchema, FlowSchemaSpec } from '../../api/types/flowcontrol/v1.ts';
import type { FieldPath } from '../../object/field-path.ts';
import { age, NONE } from '../cells.ts';
import { column, define, nameColumn } from '../define.ts';
import { checked } from '../rules/checked.ts';
import { mustHaveDistinctTypes } from '../rules/conditions.ts';
import { mustBeName, mustBeOneOf } from '../rules/names.ts';
import { mustBeMandatorySchema } from './mandatory.ts';
import { validateRequestRule } from './request-rules.ts';

export const flowschemas = define<FlowSchema>({
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
  validateStatus: checked((at, { status }) =>
    mustHaveDistinctTypes(at.field('status').field('conditions'), status?.conditions),
  ),
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
      const { metadata, spec = {} } = schema;
      return [
        metadata.name ?? '',
        spec.priorityLevelConfiguration?.name ?? '',
        spec.matchingPrecedence ?? 0,
        spec.distinguisherMethod === undefined ? NONE : (spec.distinguisherMethod.type ?? ''),
        age(schema, now),
        danglingText(schema),
      ];
    },
  },
  strategy: {
    tracksGeneration: true,
    validate: checked(validate),
  },
});

/** Whether the priority level is missing, which is unknown until a controller has looked. */
function danglingText({ status }: FlowSchema): string {
  const dangling = status?.conditions?.find(({ type }) => type === 'Dangling');
  return dangling === undefined ? '?' : (dangling.status ?? '');
}

function validate(root: FieldPath, schema: FlowSchema): void {
  const { metadata, spec = {} } = schema;
  const at = root.field('spec');
  validatePrecedence(at.field('matchingPrecedence'), spec.matchingPrecedence ?? 0, metadata.name ?? '');
  validateDistinguisher(at.field('distinguisherMethod'), spec);
  validateLevelName(at.field('priorityLevelConfiguration').field('name'), spec);
  for (const [path, rule] of at.field('rules').each(spec.rules)) validateRequestRule(path, rule);
  mustBeMandatorySchema(at, schema);
}

const MAX_PRECEDENCE = 10000;

/** Precedence 1 comes before all others and belongs to the schema that exempts administrators. */
function validatePrecedence(at: FieldPath, precedence: number, name: string): void {
  if (precedence <= 0) at.invalid(precedence, 'must be a positive value');
  else if (precedence > MAX_PRECEDENCE) at.invalid(precedence, `must not be greater than ${MAX_PRECEDENCE}`);
  else if (precedence === 1 && name !== 'exempt')
    at.invalid(precedence, "only the schema named 'exempt' may have matchingPrecedence 1");
}

const DISTINGUISHERS = ['ByNamespace', 'ByUser'];

function validateDistinguisher(at: FieldPath, { distinguisherMethod }: FlowSchemaSpec): void {
  if (distinguisherMethod === undefined) return;
  mustBeOneOf(at.field('type'), distinguisherMethod.type ?? '', DISTINGUISHERS);
}

function validateLevelName(at: FieldPath, { priorityLevelConfiguration = {} }: FlowSchemaSpec): void {
  const { name = '' } = priorityLevelConfiguration;
  if (name === '') at.required('must reference a priority level');
  else mustBeName(at, name, 'dns-subdomain');
}
