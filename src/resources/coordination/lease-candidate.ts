import { part, text } from '../../object/parts.ts';
import { age } from '../cells.ts';
import { column, define, nameColumn } from '../define.ts';
import { validateImmutableField } from '../validation/immutable.ts';
import { validateLeaseCandidate } from './validate-candidate.ts';

export const leasecandidates = define({
  group: 'coordination.k8s.io',
  resource: 'leasecandidates',
  kind: 'LeaseCandidate',
  namespaced: true,
  versions: [{ version: 'v1alpha1', type: 'coordination/v1alpha1.LeaseCandidate', enabledByDefault: false }],
  table: {
    columns: [
      nameColumn(),
      column('LeaseName'),
      column('BinaryVersion'),
      column('EmulationVersion'),
      column('Age'),
    ],
    cells: (candidate, now) => {
      const spec = part(candidate, 'spec');
      return [
        candidate.metadata.name ?? '',
        text(spec.leaseName),
        text(spec.binaryVersion),
        text(spec.emulationVersion),
        age(candidate, now),
      ];
    },
  },
  strategy: {
    nameRule: 'path-segment',
    tracksGeneration: false,
    allowCreateOnUpdate: true,
    allowUnconditionalUpdate: false,
    validate: validateLeaseCandidate,
    validateUpdate: (candidate, old) =>
      validateImmutableField(
        'spec.leaseName',
        part(candidate, 'spec').leaseName,
        part(old, 'spec').leaseName,
      ),
  },
});
