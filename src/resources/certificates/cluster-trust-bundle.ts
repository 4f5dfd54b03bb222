import { part, text } from '../../object/parts.ts';
import { NONE } from '../cells.ts';
import { column, define, nameColumn } from '../define.ts';
import { validateImmutableField } from '../validation/immutable.ts';
import { validateTrustBundle } from './validate-trust-bundle.ts';

export const clustertrustbundles = define({
  group: 'certificates.k8s.io',
  resource: 'clustertrustbundles',
  kind: 'ClusterTrustBundle',
  namespaced: false,
  versions: [
    { version: 'v1alpha1', type: 'certificates/v1alpha1.ClusterTrustBundle', enabledByDefault: false },
  ],
  table: {
    columns: [nameColumn(), column('SignerName')],
    cells: (bundle) => [bundle.metadata.name ?? '', text(part(bundle, 'spec').signerName, NONE)],
  },
  fields: {
    paths: {
      'spec.signerName': ['spec.signerName'],
    },
  },
  strategy: {
    nameRule: 'path-segment',
    tracksGeneration: false,
    allowCreateOnUpdate: false,
    allowUnconditionalUpdate: false,
    validate: validateTrustBundle,
    validateUpdate: (bundle, old) =>
      validateImmutableField(
        'spec.signerName',
        part(bundle, 'spec').signerName,
        part(old, 'spec').signerName,
      ),
  },
});
