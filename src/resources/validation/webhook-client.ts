import type { JsonObject } from '../../api/object-meta.ts';
import type { FieldError } from '../../api/status.ts';
import { eachInvalid, invalidValue, required } from '../../object/field-errors.ts';
import { checkName, checkPort } from '../../object/formats.ts';
import { count, part, text } from '../../object/parts.ts';
import { has } from './fields.ts';
import { strings } from './values.ts';

/** How a webhook is reached: a URL or a service, one of the two. Admission and conversion webhooks share these rules. */
export function validateWebhookClient(client: JsonObject, path: string): FieldError[] {
  if (has(client, 'url') === has(client, 'service'))
    return [required(path, 'exactly one of url or service is required')];
  return has(client, 'url')
    ? validateUrl(text(client.url), `${path}.url`)
    : validateService(part(client, 'service'), `${path}.service`);
}

const FORM = '; desired format: https://host[/path]';
/** RFC 3986, appendix B: scheme, authority, path, query, fragment. */
const URL_PARTS = /^(?:([^:/?#]+):)?(?:\/\/([^/?#]*))?[^?#]*(?:\?([^#]*))?(?:#(.*))?$/s;

function validateUrl(url: string, path: string): FieldError[] {
  const broken = whyNoUrl(url);
  if (broken !== undefined) return [required(path, `url must be a valid URL: ${broken}${FORM}`)];
  const [, scheme = '', authority = '', query = '', fragment = ''] = URL_PARTS.exec(url) ?? [];
  const at = authority.lastIndexOf('@');
  const host = authority.slice(at + 1);
  const errors: FieldError[] = [];
  if (scheme.toLowerCase() !== 'https')
    errors.push(invalidValue(path, scheme, `'https' is the only allowed URL scheme${FORM}`));
  if (host === '') errors.push(invalidValue(path, host, `host must be specified${FORM}`));
  if (at >= 0)
    errors.push(invalidValue(path, authority.slice(0, at), 'user information is not permitted in the URL'));
  if (fragment !== '') errors.push(invalidValue(path, fragment, 'fragments are not permitted in the URL'));
  if (query !== '') errors.push(invalidValue(path, query, 'query parameters are not permitted in the URL'));
  return errors;
}

/** The texts of Go's net/url. */
function whyNoUrl(url: string): string | undefined {
  const wrong = (why: string): string => `parse ${JSON.stringify(url)}: ${why}`;
  // biome-ignore lint/suspicious/noControlCharactersInRegex: control characters are what is looked for
  if (/[\u0000-\u001f\u007f]/.test(url)) return wrong('net/url: invalid control character in URL');
  if (url.startsWith(':')) return wrong('missing protocol scheme');
  const badEscape = /%(?![0-9A-Fa-f]{2}).{0,2}/s.exec(url);
  if (badEscape !== null) return wrong(`invalid URL escape ${JSON.stringify(badEscape[0])}`);
  const port = /^[^:/?#]+:\/\/[^/?#]*?(:[^:/?#\]]*[^0-9:/?#\]][^:/?#\]]*)(?=[/?#]|$)/.exec(url);
  return port === null || port[1]?.includes('@') === true
    ? undefined
    : wrong(`invalid port ${JSON.stringify(port[1])} after host`);
}

function validateService(service: JsonObject, path: string): FieldError[] {
  const errors: FieldError[] = [];
  if (text(service.name) === '') errors.push(required(`${path}.name`, 'service name is required'));
  if (text(service.namespace) === '')
    errors.push(required(`${path}.namespace`, 'service namespace is required'));
  const wrongPort = checkPort(count(service.port));
  if (wrongPort.length > 0) {
    const why = `port is not valid: ${wrongPort.join(', ')}`;
    errors.push(invalidValue(`${path}.port`, count(service.port), why));
  }
  return [...errors, ...validateServicePath(text(service.path), `${path}.path`)];
}

function validateServicePath(urlPath: string, path: string): FieldError[] {
  if (urlPath === '' || urlPath === '/') return [];
  if (urlPath === '//') return [invalidValue(path, urlPath, 'segment[0] may not be empty')];
  const errors = urlPath.startsWith('/') ? [] : [invalidValue(path, urlPath, "must start with a '/'")];
  for (const [at, step] of urlPath.slice(1).replace(/\/$/, '').split('/').entries()) {
    const reasons =
      step === ''
        ? [`segment[${at}] may not be empty`]
        : checkName(step, 'dns-subdomain').map((why) => `segment[${at}]: ${why}`);
    errors.push(...eachInvalid(path, urlPath, reasons));
  }
  return errors;
}

/** Versions of the review object that this server can send. */
const REVIEW_VERSIONS = ['v1', 'v1beta1'] as const;

export function validateReviewVersions(owner: JsonObject, name: string, path: string): FieldError[] {
  const versions = strings(owner, name);
  if (versions.length === 0) return [required(path, `must specify one of ${REVIEW_VERSIONS.join(', ')}`)];
  const errors = versions.flatMap((version, at) =>
    versions.indexOf(version) < at
      ? [invalidValue(`${path}[${at}]`, version, 'duplicate version')]
      : eachInvalid(`${path}[${at}]`, version, checkName(version, 'dns-1035-label')),
  );
  if (!REVIEW_VERSIONS.some((known) => versions.includes(known)))
    errors.push(invalidValue(path, versions, `must include at least one of ${REVIEW_VERSIONS.join(', ')}`));
  return errors;
}
