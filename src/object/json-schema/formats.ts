import { isIPv4, isIPv6 } from 'node:net';
import { table } from '../../util/table.ts';
import { checkCidr } from '../formats.ts';

/** Formats of texts that custom resources may name. Those that are not known say nothing. */

const UUID = /^[0-9a-f]{8}-?[0-9a-f]{4}-?([0-9a-f])[0-9a-f]{3}-?([0-9a-f])[0-9a-f]{3}-?[0-9a-f]{12}$/i;
const DATE_TIME = /^\d{4}-\d\d-\d\d[Tt ]\d\d:\d\d:\d\d(\.\d+)?([Zz]|[+-]\d\d:\d\d)$/;
const HOSTNAME =
  /^[a-zA-Z0-9]([-a-zA-Z0-9]{0,61}[a-zA-Z0-9])?(\.[a-zA-Z0-9]([-a-zA-Z0-9]{0,61}[a-zA-Z0-9])?)*\.?$/;
const DURATION =
  /^([+-]?(\d+(\.\d*)?|\.\d+)(ns|us|µs|μs|ms|s|m|h))+$|^[+-]?0$|^\d+\s*(ns|nano|us|micro|ms|milli|s|sec|m|min|h|hr|hour|d|day|w|wk|week)s?$/;

const isDate = (text: string): boolean => !Number.isNaN(Date.parse(text));
const uuidOf = (version: string) => (text: string) => UUID.exec(text)?.[1] === version;

const FORMATS: Readonly<Record<string, (text: string) => boolean>> = table({
  byte: (text) => text.length % 4 === 0 && /^[A-Za-z0-9+/]*={0,2}$/.test(text),
  cidr: (text) => checkCidr(text).length === 0,
  date: (text) => /^\d{4}-\d\d-\d\d$/.test(text) && isDate(text),
  'date-time': (text) => DATE_TIME.test(text) && isDate(text.replace(' ', 'T')),
  datetime: (text) => DATE_TIME.test(text) && isDate(text.replace(' ', 'T')),
  duration: (text) => DURATION.test(text),
  email: (text) => /^[^\s@]+@[^\s@]+$/.test(text),
  hostname: (text) => text.length <= 255 && HOSTNAME.test(text),
  ipv4: isIPv4,
  ipv6: isIPv6,
  mac: (text) =>
    /^([0-9a-f]{2}([:-])([0-9a-f]{2}\2){4}[0-9a-f]{2}|([0-9a-f]{4}\.){2}[0-9a-f]{4})$/i.test(text),
  uri: (text) => URL.canParse(text) || text.startsWith('/'),
  uuid: (text) => UUID.test(text),
  uuid3: uuidOf('3'),
  uuid4: uuidOf('4'),
  uuid5: uuidOf('5'),
});

export const isOfFormat = (text: string, format: string): boolean => FORMATS[format]?.(text) ?? true;
