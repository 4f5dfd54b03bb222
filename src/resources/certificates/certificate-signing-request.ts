import type { ApiObject } from '../../api/object-meta.ts';
import { count, part, parts, text } from '../../object/parts.ts';
import type { UserInfo } from '../../request/api-request.ts';
import { age, humanDuration, NONE } from '../cells.ts';
import { column, define, nameColumn } from '../define.ts';
import { has } from '../validation/fields.ts';
import { approval, signing } from './approval.ts';
import { REQUEST_RATCHETS } from './request-ratchets.ts';
import { validateSigningRequest } from './validate-request.ts';

export const certificatesigningrequests = define({
  group: 'certificates.k8s.io',
  resource: 'certificatesigningrequests',
  kind: 'CertificateSigningRequest',
  namespaced: false,
  shortNames: ['csr'],
  versions: [{ version: 'v1', type: 'certificates/v1.CertificateSigningRequest' }],
  subresources: [signing, approval],
  table: {
    columns: [
      nameColumn(),
      column('Age'),
      column('SignerName'),
      column('Requestor'),
      column('RequestedDuration'),
      column('Condition'),
    ],
    cells: (request, now) => {
      const spec = part(request, 'spec');
      return [
        request.metadata.name ?? '',
        age(request, now),
        text(spec.signerName, NONE),
        text(spec.username),
        has(spec, 'expirationSeconds') ? humanDuration(count(spec.expirationSeconds) * 1000) : NONE,
        conditionText(request),
      ];
    },
  },
  fields: {
    paths: {
      'spec.signerName': ['spec.signerName'],
    },
  },
  ratchets: REQUEST_RATCHETS,
  strategy: {
    nameRule: 'path-segment',
    tracksGeneration: false,
    allowCreateOnUpdate: false,
    allowUnconditionalUpdate: true,
    resetFields: [['spec'], ['status']],
    prepareForCreate: (request, user) => {
      stampUser(request, user);
      request.status = {};
    },
    prepareForUpdate: (request, old) => {
      request.spec = old.spec;
      request.status = old.status;
    },
    validate: validateSigningRequest,
  },
});

/** A request speaks for whoever made it, whatever it says of itself. */
function stampUser(request: ApiObject, user: UserInfo | undefined): void {
  const spec = part(request, 'spec');
  for (const name of ['username', 'uid', 'groups', 'extra']) delete spec[name];
  if (user === undefined) return;
  if (user.username !== '') spec.username = user.username;
  if (user.uid !== '') spec.uid = user.uid;
  if (user.groups.length > 0) spec.groups = [...user.groups];
  const extra = Object.entries(user.extra).map(
    ([key, values]) => [key, [...values]] satisfies [string, string[]],
  );
  if (extra.length > 0) spec.extra = Object.fromEntries(extra);
}

function conditionText(request: ApiObject): string {
  const status = part(request, 'status');
  const types = parts(status, 'conditions').map(({ type }) => type);
  const verdict = ['Denied', 'Approved'].find((type) => types.includes(type)) ?? 'Pending';
  return [
    verdict,
    ...(types.includes('Failed') ? ['Failed'] : []),
    ...(has(status, 'certificate') ? ['Issued'] : []),
  ].join(',');
}
