import type { JsonObject } from '../../../api/object-meta.ts';
import type { FieldError } from '../../../api/status.ts';
import { eachInvalid, invalidValue, required } from '../../../object/field-errors.ts';
import { checkIp } from '../../../object/formats.ts';
import { part, parts, text } from '../../../object/parts.ts';
import { each, strings, validateName } from '../../validation/values.ts';

/** How a pod finds names: /etc/resolv.conf and /etc/hosts. */

const MAX_NAMESERVERS = 3;
const MAX_SEARCHES = 32;
const MAX_SEARCH_CHARS = 2048;

export function validateDns(spec: JsonObject, path: string): FieldError[] {
  const config = part(spec, 'dnsConfig');
  const servers = strings(config, 'nameservers');
  if (spec.dnsPolicy === 'None') {
    if (spec.dnsConfig === undefined)
      return [required(path, 'must provide `dnsConfig` when `dnsPolicy` is None')];
    if (servers.length === 0) {
      const why = 'must provide at least one DNS nameserver when `dnsPolicy` is None';
      return [required(`${path}.nameservers`, why)];
    }
  }
  const tooMany = `must not have more than ${MAX_NAMESERVERS} nameservers`;
  return [
    ...(servers.length > MAX_NAMESERVERS ? [invalidValue(`${path}.nameservers`, servers, tooMany)] : []),
    ...each(servers, `${path}.nameservers`, (server, at) => eachInvalid(at, server, checkIp(server))),
    ...validateSearches(strings(config, 'searches'), `${path}.searches`),
    ...each(parts(config, 'options'), `${path}.options`, ({ name }, at) =>
      text(name) === '' ? [required(at, 'must not be empty')] : [],
    ),
  ];
}

function validateSearches(searches: readonly string[], path: string): FieldError[] {
  const errors: FieldError[] = [];
  if (searches.length > MAX_SEARCHES)
    errors.push(invalidValue(path, searches, `must not have more than ${MAX_SEARCHES} search paths`));
  if (searches.join(' ').length > MAX_SEARCH_CHARS) {
    const why = `must not have more than ${MAX_SEARCH_CHARS} characters (including spaces) in the search list`;
    errors.push(invalidValue(path, searches, why));
  }
  return [
    ...errors,
    ...each(searches, path, (search, at) => validateName(at, search.replace(/\.$/, ''), 'dns-subdomain')),
  ];
}

export function validateHostAliases(aliases: readonly JsonObject[], path: string): FieldError[] {
  return each(aliases, path, (alias, at) => [
    ...eachInvalid(`${at}.ip`, text(alias.ip), checkIp(text(alias.ip))),
    ...each(strings(alias, 'hostnames'), `${at}.hostnames`, (name, nameAt) =>
      validateName(nameAt, name, 'dns-subdomain'),
    ),
  ]);
}
