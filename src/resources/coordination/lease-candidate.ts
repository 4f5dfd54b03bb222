import type { LeaseCandidate, LeaseCandidateSpec } from '../../api/types/coordination/v1alpha1.ts';
import type * as v1alpha2 from '../../api/types/coordination/v1alpha2.ts';
import type { FieldPath } from '../../object/field-path.ts';
import { checkConfigMapKey } from '../../object/formats.ts';
import { isOlder, parseSemanticVersion } from '../../object/semantic-version.ts';
import { age } from '../cells.ts';
import { column, define, nameColumn, type Table } from '../define.ts';
import { checked } from '../rules/checked.ts';
import { mustBeLeaseStrategy, OLDEST_EMULATION_VERSION } from './lease.ts';

type Candidate = LeaseCandidate | v1alpha2.LeaseCandidate;

/** Of candidates in any version. */
export const CANDIDATE_TABLE: Table<Candidate> = {
  columns: [
    nameColumn(),
    column('LeaseName'),
    column('BinaryVersion'),
    column('EmulationVersion'),
    column('Age'),
  ],
  cells: (candidate, now) => {
    const { metadata, spec = {} } = candidate;
    return [
      metadata.name ?? '',
      spec.leaseName ?? '',
      spec.binaryVersion ?? '',
      spec.emulationVersion ?? '',
      age(candidate, now),
    ];
  },
};

/** A candidate for the lead, with the versions by which the leader may be chosen. */
export const leasecandidates = define<LeaseCandidate>({
  group: 'coordination.k8s.io',
  resource: 'leasecandidates',
  kind: 'LeaseCandidate',
  namespaced: true,
  versions: [
    { version: 'v1alpha1', type: 'coordination/v1alpha1.LeaseCandidate', enabledByDefault: false, until: 32 },
  ],
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
  if ((spec.leaseName ?? '') === '') at.field('leaseName').required();
  validateVersions(at, spec);
  validateStrategies(at, spec);
}

export function validateVersions(
  at: FieldPath,
  spec: Pick<LeaseCandidateSpec, 'binaryVersion' | 'emulationVersion'>,
): void {
  for (const field of ['emulationVersion', 'binaryVersion'] as const) {
    const version = spec[field] ?? '';
    if (version !== '' && parseSemanticVersion(version) === undefined)
      at.field(field).invalid(version, 'must be a valid semantic version');
  }
  const { binaryVersion = '', emulationVersion = '' } = spec;
  const binary = parseSemanticVersion(binaryVersion);
  const emulation = parseSemanticVersion(emulationVersion);
  if (binary !== undefined && emulation !== undefined && isOlder(binary, emulation))
    at.field('binaryVersion').invalid(binaryVersion, 'must be greater than or equal to `emulationVersion`');
}

function validateStrategies(at: FieldPath, spec: LeaseCandidateSpec): void {
  const strategies = spec.preferredStrategies ?? [];
  for (const [path, strategy] of at.field('preferredStrategies').each(strategies))
    mustBeLeaseStrategy(path, strategy);
  if (!strategies.includes(OLDEST_EMULATION_VERSION)) return;
  for (const field of ['binaryVersion', 'emulationVersion'] as const)
    if (parseSemanticVersion(spec[field] ?? '') === undefined)
      at.field(field).required(`must be specified when \`strategy\` is '${OLDEST_EMULATION_VERSION}'`);
}
