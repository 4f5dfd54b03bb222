import type { Check, FindViolation } from '../check.ts';

/** Those that are the pod's alone, so that no other pod of its node feels them. */
const SAFE_1_0 = [
  'kernel.shm_rmid_forced',
  'net.ipv4.ip_local_port_range',
  'net.ipv4.tcp_syncookies',
  'net.ipv4.ping_group_range',
  'net.ipv4.ip_unprivileged_port_start',
];
const SAFE_1_27 = [...SAFE_1_0, 'net.ipv4.ip_local_reserved_ports'];
const SAFE_1_29 = [
  ...SAFE_1_27,
  'net.ipv4.tcp_keepalive_time',
  'net.ipv4.tcp_fin_timeout',
  'net.ipv4.tcp_keepalive_intvl',
  'net.ipv4.tcp_keepalive_probes',
];

const findBeyond =
  (safe: readonly string[]): FindViolation =>
  ({ context }) => {
    const names = (context.sysctls ?? []).map(({ name = '' }) => name);
    const unsafe = names.filter((name) => !safe.includes(name));
    return unsafe.length === 0 ? undefined : { reason: 'forbidden sysctls', detail: unsafe.join(', ') };
  };

export const sysctls: Check = {
  id: 'sysctls',
  level: 'baseline',
  versions: [
    { since: 0, find: findBeyond(SAFE_1_0) },
    { since: 27, find: findBeyond(SAFE_1_27) },
    { since: 29, find: findBeyond(SAFE_1_29) },
  ],
};
