import type {
  FlowSchema,
  FlowSchemaSpec,
  PolicyRulesWithSubjects,
  PriorityLevelConfiguration,
  PriorityLevelConfigurationSpec,
} from '../../api/types/flowcontrol/v1.ts';
import { equal, equalExcept } from '../../object/equality.ts';
import type { FieldPath } from '../../object/field-path.ts';

/**
 * The objects that keep a cluster reachable under any configuration: requests of administrators are never queued, and
 * every request finds a schema. They may be written only as they are (apiserver, apis/flowcontrol/bootstrap).
 */

const everythingOf = (...groups: readonly string[]): PolicyRulesWithSubjects[] => [
  {
    subjects: groups.map((name) => ({ kind: 'Group', group: { name } })),
    resourceRules: [
      { verbs: ['*'], apiGroups: ['*'], resources: ['*'], clusterScope: true, namespaces: ['*'] },
    ],
    nonResourceRules: [{ verbs: ['*'], nonResourceURLs: ['*'] }],
  },
];

const SCHEMAS: ReadonlyMap<string, FlowSchemaSpec> = new Map<string, FlowSchemaSpec>([
  [
    'exempt',
    {
      priorityLevelConfiguration: { name: 'exempt' },
      matchingPrecedence: 1,
      rules: everythingOf('system:masters'),
    },
  ],
  [
    'catch-all',
    {
      priorityLevelConfiguration: { name: 'catch-all' },
      matchingPrecedence: 10000,
      distinguisherMethod: { type: 'ByUser' },
      rules: everythingOf('system:unauthenticated', 'system:authenticated'),
    },
  ],
]);

const CATCH_ALL_LEVEL: PriorityLevelConfigurationSpec = {
  type: 'Limited',
  limited: { nominalConcurrencyShares: 5, limitResponse: { type: 'Reject' }, lendablePercent: 0 },
};

/** `at` is the path of the spec. */
export function mustBeMandatorySchema(at: FieldPath, { metadata, spec }: FlowSchema): void {
  const fixed = SCHEMAS.get(metadata.name ?? '');
  if (fixed !== undefined && !equal(spec, fixed))
    at.invalid(spec, `spec of '${metadata.name}' must equal the fixed value`);
}

/** `at` is the path of the spec. */
export function mustBeMandatoryLevel(at: FieldPath, { metadata, spec }: PriorityLevelConfiguration): void {
  if (metadata.name === 'exempt' && !equalExcept(spec ?? {}, { type: 'Exempt' }, ['exempt']))
    at.invalid(spec, "spec of 'exempt' except the 'spec.exempt' field must equal the fixed value");
  else if (metadata.name === 'catch-all' && !equal(spec, CATCH_ALL_LEVEL))
    at.invalid(spec, "spec of 'catch-all' must equal the fixed value");
}
