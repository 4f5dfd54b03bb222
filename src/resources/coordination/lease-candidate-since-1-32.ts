import type { LeaseCandidate, LeaseCandidateSpec } from '../../api/types/coordination/v1alpha2.ts';
import type { FieldPath } from '../../object/field-path.ts';
import { checkConfigMapKey } from '../../object/formats.ts';
import { parseSemanticVersion } from '../../object/semantic-version.ts';
import { define } from '../define.ts';
import { checked } from '../rules/checked.ts';
import { mustBeLeaseStrategy, OLDEST_EMULATION_VERSION } from './lease.ts';
import { CANDIDATE_TABLE, validateVersions } from './lease-candidate.ts';

/** Candidates as 1.32 and later have them: each names one strategy, 1.31 a list. */
export const leasecandidates = define<LeaseCandidate>({
  group: 'coordination.k8s.io',
  resource: 'leasecandidates',
  kind: 'LeaseCandidate',
  namespaced: true,
  versions: [
    { version: 'v1beta1', type: 'coordination/v1beta1.LeaseCandidate', enabledByDefault: false, since: 33 },
    { version: 'v1alpha2', type: 'coordination/v1alpha2.LeaseCandidate', enabledByDefault: false, since: 32 },
  ],
  storedVersion: 'v1alpha2',
  table: CANDIDATE_TABLE,
  strategy: {
    nameRule: 'path-segment',
    allowCreateOnUpdate: true,
    allowUnconditionalUpdate: false,
    validate: checked(validate),
  },
});

function validate(root: FieldPath, { metadata, spec = {} }: LeaseCandidate): void {
  const { name = '' } = metadata;
  const at = root.field('spec');
  root.field('metadata').field('name').invalidFor(name, checkConfigMapKey(name));
  for (const field of ['leaseName', 'binaryVersion'] as const)
    if ((spec[field] ?? '') === '') at.field(field).required();
  validateVersions(at, spec);
  validateStrategy(at, spec);
}

function validateStrategy(at: FieldPath, { strategy = '', emulationVersion = '' }: LeaseCandidateSpec): void {
  if (strategy === '') {
    at.field('strategy').required();
    return;
  }
  if (strategy === OLDEST_EMULATION_VERSION && parseSemanticVersion(emulationVersion) === undefined)
    at.field('emulationVersion').required(
      `must be specified when \`strategy\` is '${OLDEST_EMULATION_VERSION}'`,
    );
  mustBeLeaseStrategy(at.field('strategy'), strategy);
}
