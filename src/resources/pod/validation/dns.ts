import type { HostAlias, PodSpec } from '../../../api/types/core/v1.ts';
import type { FieldPath } from '../../../object/field-path.ts';
import { checkIp } from '../../../object/formats.ts';
import { mustBeName } from '../../rules/names.ts';

/** How a pod finds names: /etc/resolv.conf and /etc/hosts. */

const MAX_NAMESERVERS = 3;
const MAX_SEARCHES = 32;
const MAX_SEARCH_CHARS = 2048;

/** `at` is the configuration. */
export function validateDns(at: FieldPath, { dnsConfig, dnsPolicy }: PodSpec): void {
  const { nameservers = [], searches = [], options } = dnsConfig ?? {};
  const servers = at.field('nameservers');
  if (dnsPolicy === 'None' && dnsConfig === undefined) {
    at.required('must provide `dnsConfig` when `dnsPolicy` is None');
    return;
  }
  if (dnsPolicy === 'None' && nameservers.length === 0) {
    servers.required('must provide at least one DNS nameserver when `dnsPolicy` is None');
    return;
  }
  if (nameservers.length > MAX_NAMESERVERS)
    servers.invalid(nameservers, `must not have more than ${MAX_NAMESERVERS} nameservers`);
  for (const [path, server] of servers.each(nameservers)) path.invalidFor(server, checkIp(server));
  validateSearches(at.field('searches'), searches);
  for (const [path, { name = '' }] of at.field('options').each(options))
    if (name === '') path.required('must not be empty');
}

function validateSearches(at: FieldPath, searches: readonly string[]): void {
  if (searches.length > MAX_SEARCHES)
    at.invalid(searches, `must not have more than ${MAX_SEARCHES} search paths`);
  if (searches.join(' ').length > MAX_SEARCH_CHARS)
    at.invalid(
      searches,
      `must not have more than ${MAX_SEARCH_CHARS} characters (including spaces) in the search list`,
    );
  for (const [path, search] of at.each(searches))
    mustBeName(path, search.replace(/\.$/, ''), 'dns-subdomain');
}

export function validateHostAliases(at: FieldPath, aliases: readonly HostAlias[]): void {
  for (const [path, { ip = '', hostnames }] of at.each(aliases)) {
    path.field('ip').invalidFor(ip, checkIp(ip));
    for (const [item, name] of path.field('hostnames').each(hostnames))
      mustBeName(item, name, 'dns-subdomain');
  }
}
