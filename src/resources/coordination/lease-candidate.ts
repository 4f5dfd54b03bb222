import type * as alpha from '../../api/types/coordination/v1alpha1.ts';
import type { LeaseCandidate } from '../../api/types/coordination/v1beta1.ts';
import type { FieldPath } from '../../object/field-path.ts';
import { isOlder, parseSemanticVersion } from '../../object/semantic-version.ts';
import { checkConfigMapKey } from '../../object/text-formats.ts';
import { age } from '../cells.ts';
import { column, define, nameColumn } from '../define.ts';
import { checked } from '../rules/checked.ts';
import { mustBeLeaseStrategy, OLDEST_EMULATION_VERSION } from './lease.ts';

/** A candidate for the lead, with the versions by which the leader may be chosen: what both forms of 1.31 and of later have. */
const COMMON = {
  group: 'coordination.k8s.io',
  resource: 'leasecandidates',
  kind: 'LeaseCandidate',
  namespaced: true,
  table: {
    columns: [
      nameColumn(),
      column('LeaseName'),
      column('BinaryVersion'),
      column('EmulationVersion'),
      column('Age'),
    ],
    cells: (candidate: Candidate, now: number) => {
      const { metadata, spec = {} } = candidate;
      return [
        metadata.name ?? '',
        spec.leaseName ?? '',
        spec.binaryVersion ?? '',
        spec.emulationVersion ?? '',
        age(candidate, now),
      ];
    },
  },
} as const;

const STRATEGY = {
  nameRule: 'path-segment',
  allowCreateOnUpdate: true,
  allowUnconditionalUpdate: false,
} as const;

/** Kubernetes 1.32 dropped this form, and what was stored in it. */
export const alphaLeaseCandidates = define<alpha.LeaseCandidate>({
  ...COMMON,
  versions: [
    { version: 'v1alpha1', type: 'coordination/v1alpha1.LeaseCandidate', enabledByDefault: false, until: 32 },
  ],
  strategy: {
    finalizersNeedDomains: false,
    ...STRATEGY,
    validate: checked((root, candidate) => {
      const { spec = {} } = candidate;
      const at = validateCommon(root, candidate);
      validateVersions(at, spec);
      validateStrategies(at, spec);
    }),
  },
});

export const leasecandidates = define<LeaseCandidate>({
  ...COMMON,
  versions: [
    {
      ...{ version: 'v1beta1', type: 'coordination/v1beta1.LeaseCandidate' },
      ...{ enabledByDefault: false, since: 33 },
    },
    {
      ...{ version: 'v1alpha2', type: 'coordination/v1alpha2.LeaseCandidate' },
      ...{ enabledByDefault: false, since: 32 },
    },
  ],
  storedVersion: 'v1alpha2',
  strategy: {
    finalizersNeedDomains: false,
    ...STRATEGY,
    validate: checked((root, candidate) => {
      const { spec = {} } = candidate;
      const at = validateCommon(root, candidate);
      validateVersions(at, spec);
      if ((spec.binaryVersion ?? '') === '') at.field('binaryVersion').required();
      validateStrategy(at, spec);
    }),
  },
});

type Candidate = Omit<LeaseCandidate, 'spec'> & {
  readonly spec?: Pick<
    NonNullable<LeaseCandidate['spec']>,
    'binaryVersion' | 'emulationVersion' | 'leaseName'
  >;
};

/** @returns the path of the spec */
function validateCommon(root: FieldPath, { metadata, spec = {} }: Candidate): FieldPath {
  const { name = '' } = metadata;
  const at = root.field('spec');
  root.field('metadata').field('name').invalidFor(name, checkConfigMapKey(name));
  if ((spec.leaseName ?? '') === '') at.field('leaseName').required();
  return at;
}

function validateStrategy(
  at: FieldPath,
  { strategy = '', emulationVersion = '' }: NonNullable<LeaseCandidate['spec']>,
): void {
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

function validateVersions(at: FieldPath, spec: NonNullable<Candidate['spec']>): void {
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

function validateStrategies(at: FieldPath, spec: NonNullable<alpha.LeaseCandidate['spec']>): void {
  const strategies = spec.preferredStrategies ?? [];
  for (const [path, strategy] of at.field('preferredStrategies').each(strategies))
    mustBeLeaseStrategy(path, strategy);
  if (!strategies.includes(OLDEST_EMULATION_VERSION)) return;
  for (const field of ['binaryVersion', 'emulationVersion'] as const)
    if (parseSemanticVersion(spec[field] ?? '') === undefined)
      at.field(field).required(`must be specified when \`strategy\` is '${OLDEST_EMULATION_VERSION}'`);
}
