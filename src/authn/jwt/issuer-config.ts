import { X509Certificate } from 'node:crypto';
import type { FieldError } from '../../api/status.ts';
import { duplicate, invalidValue, required } from '../../object/field-errors.ts';
import { certificatesIn } from '../../x509/pem.ts';
import type { JwtConfig } from './config.ts';
import type { ConfigFields } from './config-fields.ts';

export const ISSUER_FIELDS = [
  'url',
  'discoveryURL',
  'certificateAuthority',
  'audiences',
  'audienceMatchPolicy',
];

/** `disallowed`: this cluster's own issuers, whose tokens another authenticator verifies. */
export function parseIssuer(
  issuer: ConfigFields,
  disallowed: readonly string[],
  problems: FieldError[],
): JwtConfig['issuer'] {
  const url = issuer.text('url');
  const discoveryUrl = issuer.text('discoveryURL');
  if (url === '') problems.push(required(issuer.at('url'), 'URL is required'));
  else checkUrl(url, issuer.at('url'), disallowed, problems);
  if (discoveryUrl !== '') {
    const field = issuer.at('discoveryURL');
    if (withoutSlashes(url) === withoutSlashes(discoveryUrl))
      problems.push(invalidValue(field, discoveryUrl, 'discoveryURL must be different from URL'));
    checkUrl(discoveryUrl, field, [], problems);
  }
  const audiences = issuer.texts('audiences');
  checkAudiences(audiences, issuer, problems);
  const certificateAuthority = issuer.text('certificateAuthority') || undefined;
  if (certificateAuthority !== undefined && !isCertificate(certificateAuthority)) {
    const field = issuer.at('certificateAuthority');
    problems.push(
      invalidValue(field, '<omitted>', 'data does not contain any valid RSA or ECDSA certificates'),
    );
  }
  return { url, discoveryUrl, certificateAuthority, audiences };
}

const withoutSlashes = (url: string): string => url.replace(/\/+$/, '');

export function checkUrl(
  text: string,
  field: string,
  disallowed: readonly string[],
  problems: FieldError[],
): void {
  const wrong = (why: string): void => void problems.push(invalidValue(field, text, why));
  if (disallowed.includes(text)) {
    wrong(`URL must not overlap with disallowed issuers: [${[...disallowed].sort().join(' ')}]`);
  }
  if (!URL.canParse(text)) {
    wrong('URL cannot be parsed');
    return;
  }
  const { protocol, username, password, search, hash } = new URL(text);
  if (protocol !== 'https:') wrong('URL scheme must be https');
  if (username !== '' || password !== '') wrong('URL must not contain a username or password');
  if (search !== '') wrong('URL must not contain a query');
  if (hash !== '') wrong('URL must not contain a fragment');
}

function checkAudiences(audiences: readonly string[], issuer: ConfigFields, problems: FieldError[]): void {
  const field = issuer.at('audiences');
  if (audiences.length === 0) {
    problems.push(required(field, `at least one ${field} is required`));
    return;
  }
  for (const [at, audience] of audiences.entries()) {
    if (audience === '') problems.push(required(`${field}[${at}]`, "audience can't be empty"));
    if (audiences.indexOf(audience) !== at) problems.push(duplicate(`${field}[${at}]`, audience));
  }
  const policy = issuer.text('audienceMatchPolicy');
  if (policy === 'MatchAny' || (audiences.length === 1 && policy === '')) return;
  const why =
    audiences.length > 1
      ? 'audienceMatchPolicy must be MatchAny for multiple audiences'
      : 'audienceMatchPolicy must be empty or MatchAny for single audience';
  problems.push(invalidValue(issuer.at('audienceMatchPolicy'), policy, why));
}

function isCertificate(pem: string): boolean {
  const certificates = certificatesIn(pem);
  try {
    return certificates.map((der) => new X509Certificate(der)).length > 0;
  } catch {
    return false;
  }
}
