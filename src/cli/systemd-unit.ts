import { resolve } from 'node:path';
import { checkExposure } from '../options/authorization.ts';
import { UsageError } from '../options/flag.ts';
import { parseOptions } from '../options/options.ts';
import { ownFlags } from '../options/storage.ts';
import { hidePasswords } from '../util/hidden-passwords.ts';

/** The unit's name is part of the path of its credentials. */
const NAME = 'pg-apiserver';
const STATE = `/var/lib/${NAME}`;
const PASSWORDS = `/etc/${NAME}/pgpass`;
/** Writes that are under way are answered within it (migrations/README.md), and the embedded PostgreSQL ends. */
const STOP_S = 70;
/** The event loop rests for milliseconds, and for seconds where the machine has no CPU to give. */
const WATCHDOG_S = 60;

/** What a unit starts: this Node.js and this program, unless a test names others. */
interface Program {
  readonly node: string;
  readonly main: string;
}

/** `systemd-unit [flags]`: prints a unit that serves with these flags. @throws UsageError for flags that no server takes */
export async function printUnit(flags: readonly string[]): Promise<void> {
  const main = resolve(process.argv[1] ?? '');
  process.stdout.write(formatUnit(flags, { node: process.execPath, main }));
  for (const path of [process.execPath, main])
    if (/^\/(home|root|run\/user|tmp|var\/tmp)\//.test(path))
      process.stderr.write(
        `${path} is in a folder of a user or of temporary files, which the unit may not read: install Node.js and pg-apiserver elsewhere, such as npm install --global --prefix=/opt/pg-apiserver\n`,
      );
}

/** @throws UsageError */
export function formatUnit(flags: readonly string[], { node, main }: Program): string {
  const { storage, serving, authorization } = parseOptions(flags);
  checkExposure(serving, authorization);
  for (const flag of flags)
    if (hidePasswords(flag) !== flag)
      throw new UsageError(
        `${hidePasswords(flag)}: a unit can be read by every user: leave the password out, and write it into ${PASSWORDS}, in the format of libpq's password file`,
      );
  const { shown } = ownFlags.dataDir;
  if (storage.dataDir !== ownFlags.dataDir.default)
    throw new UsageError(`${shown}: leave it out: the unit keeps its data in ${STATE}, which systemd makes`);
  const command = [node, main, `${shown}=${STATE}`, ...flags].map(quote).join(' ');
  const hasDatabase = storage.databaseUrls.length > 0;
  return `${[...UNIT, '[Service]', ...lifecycle(command), ...(hasDatabase ? PASSWORD_FILE : []), ...HARDENING, '', ...INSTALL].join('\n')}\n`;
}

const UNIT = [
  `# /etc/systemd/system/${NAME}.service, as pg-apiserver systemd-unit has written it.`,
  '[Unit]',
  'Description=Kubernetes-compatible API server on PostgreSQL',
  'Wants=network-online.target',
  'After=network-online.target postgresql.service',
  '# It comes back for as long as it fails.',
  'StartLimitIntervalSec=0',
  '',
];

const lifecycle = (command: string): string[] => [
  '# It has started when it serves, however long it waits for its database, and is started again when it no longer says that it lives.',
  'Type=notify',
  '# The server says so by systemd-notify.',
  'NotifyAccess=all',
  'TimeoutStartSec=infinity',
  `WatchdogSec=${WATCHDOG_S}s`,
  `ExecStart=${command}`,
  'Restart=on-failure',
  'RestartSec=2s',
  '# A wrong command line stays wrong.',
  'RestartPreventExitStatus=2',
  `TimeoutStopSec=${STOP_S}s`,
  '# The server alone is asked to stop: it ends the embedded PostgreSQL after the last answer.',
  'KillMode=mixed',
  'LimitNOFILE=65536',
  '',
  '# A user of its own, without a home.',
  'DynamicUser=yes',
  `StateDirectory=${NAME}`,
  'StateDirectoryMode=0700',
  `WorkingDirectory=${STATE}`,
  'UMask=0077',
  'Environment=NODE_ENV=production',
];

/** systemd reads the file as root when the unit starts, and shows it to the unit alone. */
const PASSWORD_FILE = [
  `# Passwords of PostgreSQL, in the format of libpq's password file, for root alone. A change takes a restart.`,
  `LoadCredential=pgpass:${PASSWORDS}`,
  `Environment=PGPASSFILE=/run/credentials/${NAME}.service/pgpass`,
];

/** All that Node.js can do without. It makes code at run time, so that MemoryDenyWriteExecute would end it. */
const HARDENING = [
  '',
  'CapabilityBoundingSet=',
  'AmbientCapabilities=',
  'NoNewPrivileges=yes',
  'ProtectSystem=strict',
  'ProtectHome=yes',
  'PrivateTmp=yes',
  'PrivateDevices=yes',
  'ProtectClock=yes',
  'ProtectHostname=yes',
  'ProtectKernelLogs=yes',
  'ProtectKernelModules=yes',
  'ProtectKernelTunables=yes',
  'ProtectControlGroups=yes',
  'ProtectProc=invisible',
  'RestrictAddressFamilies=AF_INET AF_INET6 AF_UNIX AF_NETLINK',
  'RestrictNamespaces=yes',
  'RestrictRealtime=yes',
  'RestrictSUIDSGID=yes',
  'LockPersonality=yes',
  'SystemCallArchitectures=native',
  'SystemCallFilter=@system-service',
  'SystemCallErrorNumber=EPERM',
];

const INSTALL = ['[Install]', 'WantedBy=multi-user.target'];

/**
 * A word of ExecStart= (systemd.service(5), COMMAND LINES): `%` begins a specifier, `$` a variable, and quotes hold spaces together.
 *
 *     quote('--a=50% of $5') → "--a=50%% of $$5"
 */
export function quote(word: string): string {
  const escaped = word
    .replaceAll('\\', '\\\\')
    .replaceAll('"', '\\"')
    .replaceAll('\n', '\\n')
    .replaceAll('%', '%%')
    .replaceAll('$', '$$$$');
  return /^[\w./:=,@+%?&-]+$/.test(escaped) ? escaped : `"${escaped}"`;
}
