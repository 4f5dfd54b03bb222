import { describe, expect, test } from 'vitest';
import { certificatesigningrequests } from '../../src/resources/certificates/certificate-signing-request.ts';
import { clustertrustbundles } from '../../src/resources/certificates/cluster-trust-bundle.ts';
import { created, problemsOnCreate, problemsOnUpdate, problemsOnView } from '../kit/manifests.ts';
import { type StatusChange, shortened, type Variation } from '../kit/variation-tables.ts';
import { varyAll } from '../kit/variations.ts';

/** Requests for certificates, and the certificates that are trusted. */

/** A request for CN=e with an ECDSA key. */
const REQUEST = [
  '-----BEGIN CERTIFICATE REQUEST-----',
  'MIHFMG4CAQAwDDEKMAgGA1UEAwwBZTBZMBMGByqGSM49AgEGCCqGSM49AwEHA0IA',
  'BLS712PTVtjfFc5gB64ltkSo7d5Tqqn+y9HMpB0w99P3kEFa5GU6CJXr9MG+CYPA',
  'Zw4tfNNS/6SSkGdLyEm/AHygADAKBggqhkjOPQQDAgNHADBEAiAa1TTEaPBwiFCV',
  'HIRVGg/rUabYlCezJciilrCkDGBijgIgYRmXKZ3O1zSIlhIBcnr7RqW4nNY2/GkA',
  '/x/EyY2c+VM=',
  '-----END CERTIFICATE REQUEST-----',
  '',
].join('\n');

/** A self-signed authority. */
const AUTHORITY = [
  '-----BEGIN CERTIFICATE-----',
  'MIIBbjCCARWgAwIBAgIUAfr1PwK3kQclNv+q+lVx+o2sLgowCgYIKoZIzj0EAwIw',
  'DTELMAkGA1UEAwwCY2EwHhcNMjYxMTIxMDczNTU1WhcNMzYxMTE4MDczNTU1WjAN',
  'MQswCQYDVQQDDAJjYTBZMBMGByqGSM49AgEGCCqGSM49AwEHA0IABLS712PTVtjf',
  'Fc5gB64ltkSo7d5Tqqn+y9HMpB0w99P3kEFa5GU6CJXr9MG+CYPAZw4tfNNS/6SS',
  'kGdLyEm/AHyjUzBRMB0GA1UdDgQWBBRxRcS86ff3AOpYUPHVWwwp4VRxqjAfBgNV',
  'HSMEGDAWgBRxRcS86ff3AOpYUPHVWwwp4VRxqjAPBgNVHRMBAf8EBTADAQH/MAoG',
  'CCqGSM49BAMCA0cAMEQCIAL73rKFgIeApEH+zBFpEbWLEC9XIFwsnNDFzuyHB3HO',
  'AiBSNQBx+yns+qkh3nhjFjqbK9GkjKfY+FbxpXBIszXxcg==',
  '-----END CERTIFICATE-----',
  '',
].join('\n');

const base64 = (text: string): string => Buffer.from(text).toString('base64');

describe('signing requests', () => {
  const good = {
    spec: {
      request: base64(REQUEST),
      signerName: 'example.com/signer',
      usages: ['client auth', 'digital signature'],
      expirationSeconds: 3600,
    },
  };

  test('one that is right in all its fields is taken', () => {
    expect(problemsOnCreate(certificatesigningrequests, good)).toEqual([]);
  });

  test.each<Variation>([
    [
      { 'spec.request': 'eA==' },
      ['spec.request: Invalid value: "eA==": PEM block type must be CERTIFICATE REQUEST'],
    ],
    [
      {
        'spec.request':
          'LS0tLS1CRUdJTiBDRVJUSUZJQ0FURSBSRVFVRVNULS0tLS0KQUFBQQotLS0tLUVORCBDRVJUSUZJQ0FURSBSRVFVRVNULS0tLS0K',
      },
      [
        'spec.request: Invalid value: "LS0tLS1CRUdJTiBDRVJUSUZJQ0FURSBSRVFVRVNULS0tLS0KQUFBQQotLS0tLUVORCBDRVJUSUZJQ0FURSBSRVFVRVNULS0tLS0K": asn1: structure error: not a PKCS#10 certification request',
      ],
    ],
    [{ 'spec.usages': [] }, ['spec.usages: Required value']],
    [
      { 'spec.usages': ['client auth', 'client auth', 'fun'] },
      [
        'spec.usages[1]: Duplicate value: "client auth"',
        'spec.usages[2]: Unsupported value: "fun": supported values: "any", "cert sign", "client auth", "code signing", "content commitment", "crl sign", "data encipherment", "decipher only", "digital signature", "email protection", "encipher only", "ipsec end system", "ipsec tunnel", "ipsec user", "key agreement", "key encipherment", "microsoft sgc", "netscape sgc", "ocsp signing", "s/mime", "server auth", "signing", "timestamping"',
      ],
    ],
    [{ 'spec.signerName': '' }, ['spec.signerName: Required value']],
    [
      { 'spec.signerName': 'kubernetes.io/legacy-unknown' },
      [
        'spec.signerName: Invalid value: "kubernetes.io/legacy-unknown": the legacy signerName is not allowed via this API version',
      ],
    ],
    [
      { 'spec.signerName': 'example.com' },
      [
        'spec.signerName: Invalid value: "example.com": must be a fully qualified domain and path of the form \'example.com/signer-name\'',
      ],
    ],
    [
      { 'spec.signerName': 'com/A' },
      [
        'spec.signerName: Invalid value: "A": validating label "A": a lowercase RFC 1123 subdomain must consist of lower case alphanumeric characters, \'-\' or \'.\', and must start and end with an alphanumeric character',
        'spec.signerName: Invalid value: "com": should be a domain with at least two segments separated by dots',
      ],
    ],
    [
      { 'spec.signerName': 'A.com/a' },
      [
        'spec.signerName: Invalid value: "A.com": validating label "A": a lowercase RFC 1123 label must consist of lower case alphanumeric characters or \'-\', and must start and end with an alphanumeric character',
      ],
    ],
    [
      { 'spec.signerName': `a.b/${'c.'.repeat(284)}d` },
      ['spec.signerName: Too long: must have at most 571 bytes'],
    ],
    [
      { 'spec.expirationSeconds': 599 },
      [
        'spec.expirationSeconds: Invalid value: 599: may not specify a duration less than 600 seconds (10 minutes)',
      ],
    ],
  ])('%j is refused', (changes, lines) => {
    expect(shortened(problemsOnCreate(certificatesigningrequests, varyAll(good, changes)))).toEqual(lines);
  });

  test.each<StatusChange>([
    [
      {},
      { certificate: 'eA==' },
      [
        'status.certificate: Invalid value: "<certificate data>": must contain at least one CERTIFICATE PEM block',
      ],
    ],
    [
      { certificate: 'eA==' },
      { certificate: 'eQ==' },
      [
        'status.certificate: Forbidden: updates may not modify existing certificate content',
        'status.certificate: Invalid value: "<certificate data>": must contain at least one CERTIFICATE PEM block',
      ],
    ],
    [
      {},
      { certificate: base64('-----BEGIN KEY-----\nAAAA\n-----END KEY-----\n') },
      [
        'status.certificate: Invalid value: "<certificate data>": only CERTIFICATE PEM blocks are allowed, found "KEY"',
      ],
    ],
    [
      {},
      { certificate: base64('-----BEGIN CERTIFICATE-----\na: b\n\nAAAA\n-----END CERTIFICATE-----\n') },
      ['status.certificate: Invalid value: "<certificate data>": no PEM block headers are permitted'],
    ],
    [
      {},
      { certificate: base64('-----BEGIN CERTIFICATE-----\nAAAA\n-----END CERTIFICATE-----\n') },
      ['status.certificate: Invalid value: "<certificate data>": x509: malformed certificate'],
    ],
    [
      {},
      {
        conditions: [
          {
            type: 'Approved',
            status: 'True',
            lastUpdateTime: '2024-01-01T00:00:00Z',
            lastTransitionTime: '2024-01-01T00:00:00Z',
          },
        ],
      },
      ['status.conditions: Forbidden: updates may not add a condition of type "Approved"'],
    ],
    [
      {
        conditions: [
          {
            type: 'Approved',
            status: 'True',
            lastUpdateTime: '2024-01-01T00:00:00Z',
            lastTransitionTime: '2024-01-01T00:00:00Z',
          },
        ],
      },
      {},
      ['status.conditions: Forbidden: updates may not remove a condition of type "Approved"'],
    ],
    [
      {
        conditions: [
          {
            type: 'Approved',
            status: 'True',
            lastUpdateTime: '2024-01-01T00:00:00Z',
            lastTransitionTime: '2024-01-01T00:00:00Z',
          },
        ],
      },
      {
        conditions: [
          {
            type: 'Approved',
            status: 'True',
            lastUpdateTime: '2024-01-01T00:00:00Z',
            lastTransitionTime: '2024-01-01T00:00:00Z',
          },
          {
            type: 'Failed',
            status: 'True',
            lastUpdateTime: '2024-01-01T00:00:00Z',
            lastTransitionTime: '2024-01-01T00:00:00Z',
          },
        ],
      },
      [],
    ],
    [
      {},
      {
        conditions: [
          { type: 'Ready', status: 'Maybe' },
          { type: '', status: '' },
          { type: 'Failed', status: 'False' },
        ],
      },
      [
        'status.conditions[0].status: Unsupported value: "Maybe": supported values: "False", "True", "Unknown"',
        'status.conditions[1].status: Required value',
        'status.conditions[1].type: Required value',
        'status.conditions[2].status: Unsupported value: "False": supported values: "True"',
      ],
    ],
    [
      {},
      {
        conditions: [
          {
            type: 'Approved',
            status: 'True',
            lastUpdateTime: '2024-01-01T00:00:00Z',
            lastTransitionTime: '2024-01-01T00:00:00Z',
          },
        ],
      },
      [],
      'approval',
    ],
    [
      {},
      {
        conditions: [
          {
            type: 'Approved',
            status: 'True',
            lastUpdateTime: '2024-01-01T00:00:00Z',
            lastTransitionTime: '2024-01-01T00:00:00Z',
          },
          {
            type: 'Denied',
            status: 'True',
            lastUpdateTime: '2024-01-01T00:00:00Z',
            lastTransitionTime: '2024-01-01T00:00:00Z',
          },
        ],
      },
      [
        'status.conditions[1].type: Invalid value: "Denied": Approved and Denied conditions are mutually exclusive',
      ],
      'approval',
    ],
    [
      {
        conditions: [
          {
            type: 'Denied',
            status: 'True',
            lastUpdateTime: '2024-01-01T00:00:00Z',
            lastTransitionTime: '2024-01-01T00:00:00Z',
          },
        ],
      },
      {
        conditions: [
          {
            type: 'Approved',
            status: 'True',
            lastUpdateTime: '2024-01-01T00:00:00Z',
            lastTransitionTime: '2024-01-01T00:00:00Z',
          },
        ],
      },
      ['status.conditions: Forbidden: updates may not remove a condition of type "Denied"'],
      'approval',
    ],
  ])('a status that goes from %j to %j is answered as Kubernetes does', (before, after, lines, view) => {
    expect(shortened(problemsOnView(certificatesigningrequests, good, { before, after, view }))).toEqual(
      lines,
    );
  });

  test('a request whose signature is not by its own key is refused', () => {
    const der = Buffer.from(REQUEST.replace(/-----.*-----/g, ''), 'base64');
    der.writeUInt8(der.readUInt8(der.length - 1) ^ 1, der.length - 1);
    const forged = `-----BEGIN CERTIFICATE REQUEST-----\n${der.toString('base64')}\n-----END CERTIFICATE REQUEST-----\n`;
    const [line = ''] = problemsOnCreate(
      certificatesigningrequests,
      varyAll(good, { 'spec.request': base64(forged) }),
    );
    expect(line).toMatch(/^spec\.request: Invalid value: .*: x509: ECDSA verification failure$/);
  });

  test('a request is made in the name of its caller, and has no status', () => {
    const claimed = created(
      certificatesigningrequests,
      { ...varyAll(good, { 'spec.username': 'root' }), status: { certificate: 'eA==' } },
      { username: 'jane', uid: '7', groups: ['devs'], extra: { scopes: ['a'] } },
    );
    expect(claimed.spec).toMatchObject({
      username: 'jane',
      uid: '7',
      groups: ['devs'],
      extra: { scopes: ['a'] },
    });
    expect(claimed.status).toEqual({});
  });

  test('nothing of a request changes but through its status and approval', () => {
    const changed = varyAll(good, { 'spec.signerName': 'example.com/other', 'spec.usages': ['any'] });
    const old = created(certificatesigningrequests, good);
    const object = { ...structuredClone(old), spec: changed.spec, status: { certificate: 'eA==' } };
    certificatesigningrequests.strategy.prepareForUpdate?.(object, old);
    expect(object).toEqual(old);
  });

  test('an approval says when it came; repeating it in the status keeps what it said', () => {
    const [status, approval] = certificatesigningrequests.subresources;
    if (status?.access !== 'view' || approval?.access !== 'view') throw new Error('both are views');
    const old = created(certificatesigningrequests, good);
    const verdict = { type: 'Approved', status: 'True', reason: 'Known' };
    const approved = approval.write({ ...old, status: { conditions: [verdict], certificate: 'eA==' } }, old);
    const time = expect.stringMatching(/^\d{4}-.*Z$/);
    expect(approved.status).toEqual({
      conditions: [{ ...verdict, lastUpdateTime: time, lastTransitionTime: time }],
    });
    const signed = status.write(
      {
        ...approved,
        status: { conditions: [{ ...verdict, reason: 'Other' }], certificate: base64(AUTHORITY) },
      },
      approved,
    );
    expect(signed.status).toEqual({ ...Object(approved.status), certificate: base64(AUTHORITY) });
    expect(status.validate?.(signed, approved)).toEqual([]);
    expect(certificatesigningrequests.cells(signed, 0).at(-1)).toBe('Approved,Issued');
  });
});

describe('trust bundles', () => {
  const good = {
    metadata: { name: 'example.com:signer:first' },
    spec: { signerName: 'example.com/signer', trustBundle: `some text\n${AUTHORITY}` },
  };

  test('one that is right in all its fields is taken', () => {
    expect(problemsOnCreate(clustertrustbundles, good)).toEqual([]);
  });

  test.each<Variation>([
    [
      { 'metadata.name': 'first' },
      [
        'metadata.name: Invalid value: "first": ClusterTrustBundle for signerName example.com/signer must be named with prefix example.com:signer:',
      ],
    ],
    [
      { 'metadata.name': 'example.com:signer:A' },
      [
        "metadata.name: Invalid value: \"example.com:signer:A\": a lowercase RFC 1123 subdomain must consist of lower case alphanumeric characters, '-' or '.', and must start and end with an alphanumeric character",
      ],
    ],
    [
      { 'spec.signerName': undefined },
      [
        'metadata.name: Invalid value: "example.com:signer:first": ClusterTrustBundle without signer name must not have ":" in its name',
      ],
    ],
    [
      { 'spec.signerName': 'signer', 'metadata.name': 'signer:a' },
      [
        'spec.signerName: Invalid value: "signer": must be a fully qualified domain and path of the form \'example.com/signer-name\'',
      ],
    ],
    [
      { 'spec.trustBundle': 'nothing' },
      ['spec.trustBundle: Invalid value: "<value omitted>": at least one trust anchor must be provided'],
    ],
    [
      { 'spec.trustBundle': '-----BEGIN CERTIFICATE-----\na: b\n\nAAAA\n-----END CERTIFICATE-----\n' },
      ['spec.trustBundle: Invalid value: "<value omitted>": entry 0 has PEM block headers'],
    ],
    [
      {
        'spec.trustBundle':
          '-----BEGIN CERTIFICATE-----\nAAAA\n-----END CERTIFICATE-----\n-----BEGIN KEY-----\nAAAA\n-----END KEY-----\n',
      },
      [
        'spec.trustBundle: Invalid value: "<value omitted>": entry 0 does not parse as X.509',
        'spec.trustBundle: Invalid value: "<value omitted>": entry 1 has bad block type: KEY',
      ],
    ],
  ])('%j is refused', (changes, lines) => {
    expect(shortened(problemsOnCreate(clustertrustbundles, varyAll(good, changes)))).toEqual(lines);
  });

  test.each<Variation>([
    [
      { 'spec.signerName': 'example.com/other', 'metadata.name': 'example.com:other:first' },
      [
        'metadata.name: Invalid value: "example.com:other:first": field is immutable',
        'spec.signerName: Invalid value: "example.com/other": field is immutable',
      ],
    ],
  ])('an update to %j is answered as Kubernetes does', (changes, lines) => {
    expect(shortened(problemsOnUpdate(clustertrustbundles, good, varyAll(good, changes)))).toEqual(lines);
  });

  test('an authority is trusted once', () => {
    const twice = varyAll(good, { 'spec.trustBundle': AUTHORITY + AUTHORITY });
    expect(problemsOnCreate(clustertrustbundles, twice)).toEqual([
      'spec.trustBundle: Invalid value: "<value omitted>": duplicate trust anchor (indices [0 1])',
    ]);
  });

  test('certificates that are stored are not read again', () => {
    const stored = created(clustertrustbundles, varyAll(good, { 'spec.trustBundle': 'nothing' }));
    const { validate } = clustertrustbundles.strategy;
    expect(validate?.(stored, undefined)).toHaveLength(1);
    expect(validate?.({ ...stored }, stored)).toEqual([]);
  });
});
