import { execFileSync } from 'node:child_process';
import { existsSync, mkdtempSync, readFileSync, rmSync, statSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { expect, test } from 'vitest';
import { parse } from 'yaml';
import { COMMANDS } from '../src/cli/commands.ts';
import { parseOptions } from '../src/options/options.ts';

interface Service {
  readonly image: string;
  readonly user?: string;
  readonly build?: { readonly context: string; readonly dockerfile: string };
  readonly entrypoint?: readonly string[];
  readonly command: readonly string[];
  readonly environment?: Readonly<Record<string, string>>;
  readonly volumes: readonly string[];
  readonly ports?: readonly string[];
  readonly restart?: string;
  readonly healthcheck?: { readonly test: readonly string[] };
  readonly read_only: boolean;
  readonly cap_drop: readonly string[];
  readonly cap_add?: readonly string[];
  readonly security_opt: readonly string[];
}

interface Compose {
  readonly services: Readonly<Record<'password' | 'postgres' | 'apiserver', Service>>;
  readonly volumes: Readonly<Record<string, null>>;
}

const root = fileURLToPath(new URL('..', import.meta.url));
const read = (file: string): string => readFileSync(join(root, file), 'utf8');
const compose: Compose = parse(read('docker-compose.yml'), { merge: true });
const { password, postgres, apiserver } = compose.services;
const dockerfile = read(apiserver.build?.dockerfile ?? '').replaceAll(/ *\\\n */g, ' ');

/** Of each COPY: what it copies, and from which stage; '' is the project. */
const copies = [...dockerfile.matchAll(/^COPY (?:--from=(\S+) )?(.*) \S+$/gm)].map(
  ([, from = '', paths = '']) => ({ from, paths: paths.split(' ') }),
);

test('the server in the composition knows its flags, and refuses requests without credentials', () => {
  const options = parseOptions(apiserver.command);
  expect(apiserver.command).toContain('--authorization-mode=Node,RBAC');
  expect(apiserver.command).toContain('--enable-admission-plugins=NodeRestriction');
  expect(options.storage.databaseUrls).toHaveLength(1);
  expect(apiserver.ports).toEqual([`127.0.0.1:${options.serving.securePort}:${options.serving.securePort}`]);
  expect(options.storage.dataDir).toBe('/data');
});

test('the image is built from what is there, and nothing else is in its context', () => {
  const copied = copies.filter(({ from }) => from === '').flatMap(({ paths }) => paths);
  for (const path of copied) expect(existsSync(join(root, path)), path).toBe(true);
  const [everything, ...allowed] = read('.dockerignore')
    .split('\n')
    .filter((line) => line !== '' && !line.startsWith('#'));
  expect(everything).toBe('*');
  expect(allowed.map((line) => line.replace(/^!/, '')).sort()).toEqual(copied.sort());
  const kept = copies.filter(({ from }) => from === 'build').flatMap(({ paths }) => paths);
  expect(kept.sort()).toEqual([
    ...['/app/dist', '/app/migrations', '/app/node_modules', '/app/package.json', '/app/sbom.json'],
  ]);
});

const { version, devDependencies, scripts } = JSON.parse(read('package.json'));
/** What an instruction has behind it, for each time that it is there. */
const saidBy = (instruction: string): string[] =>
  [...dockerfile.matchAll(new RegExp(`^${instruction} (.*)$`, 'gm'))].map(([, said = '']) => said);

test('the image runs the program itself, not as root, on the version of Node that builds it', () => {
  const [major] = devDependencies.node.split('.');
  expect(saidBy('FROM')).toEqual([
    `--platform=$BUILDPLATFORM node:${major}-slim AS build`,
    `node:${major}-slim`,
  ]);
  expect(saidBy('USER')).toEqual(['1000:1000']);
  expect(saidBy('ENTRYPOINT')).toEqual(['["node", "/app/dist/main.js"]']);
  const [command = '[]'] = saidBy('CMD');
  expect(parseOptions(JSON.parse(command)).storage.dataDir).toBe('/data');
  expect(saidBy('VOLUME')).toEqual(['/data']);
  expect(saidBy('EXPOSE')).toEqual([`${parseOptions([]).serving.securePort}`]);
});

test('each stage of the image runs scripts that there are, and keeps nothing that the build alone needs', () => {
  const run = saidBy('RUN').join(' && ').split(' && ');
  for (const [, script = ''] of run.join('\n').matchAll(/npm run (\S+)/g))
    expect(scripts).toHaveProperty(script);
  expect(run.slice(0, 4)).toEqual([
    'npm ci',
    'npm run build',
    'npm sbom --sbom-format=cyclonedx > sbom.json',
    'npm prune --omit=dev --omit=optional',
  ]);
  const labels = Object.fromEntries(
    [...(saidBy('LABEL')[0] ?? '').matchAll(/org\.opencontainers\.image\.([\w.]+)="([^"]*)"/g)].map(
      ([, name, value]) => [name, value],
    ),
  );
  expect(labels).toMatchObject({ title: 'pg-apiserver', version, revision: '$SOURCE_COMMIT' });
});

test('the bill of materials of the image names what is in the bundle, too', () => {
  const made = execFileSync('npm', ['sbom', '--sbom-format=cyclonedx', '--package-lock-only'], {
    cwd: root,
    encoding: 'utf8',
    maxBuffer: 64 * 1024 * 1024,
  });
  const { components }: { components: { name: string }[] } = JSON.parse(made);
  const names = components.map(({ name }) => name);
  for (const name of ['@grpc/grpc-js', 'pg', 'hono', 'ws']) expect(names).toContain(name);
});

test('every container is confined, and what serves comes back by itself and tells how it is', () => {
  for (const service of [password, postgres, apiserver]) {
    expect(service).toMatchObject({
      read_only: true,
      cap_drop: ['ALL'],
      security_opt: ['no-new-privileges:true'],
    });
  }
  for (const service of [postgres, apiserver]) {
    expect(service).toMatchObject({ restart: 'unless-stopped', healthcheck: { test: expect.any(Array) } });
    expect(service.cap_add).toBeUndefined();
  }
  const [, ofImage = ''] = /CMD (\[.*\])/.exec(saidBy('HEALTHCHECK')[0] ?? '') ?? [];
  expect(apiserver.healthcheck?.test).toEqual(['CMD', ...JSON.parse(ofImage)]);
  expect(COMMANDS.map(({ name }) => name)).toContain(apiserver.healthcheck?.test.at(-1));
  const volumes = [password, postgres, apiserver].flatMap((service) => service.volumes);
  expect(new Set(volumes.map((volume) => volume.split(':')[0]))).toEqual(
    new Set(Object.keys(compose.volumes)),
  );
});

test('the password is made once, and stands in the two files that are asked for it and nowhere else', () => {
  const folder = mkdtempSync(join(tmpdir(), 'pg-apiserver-secrets-'));
  const [script = ''] = password.command;
  const owner = `${process.getuid?.()}, ${process.getgid?.()}`;
  const here = script.replaceAll('/run/secrets', folder).replace('1000, 1000', owner);
  const made = (): string[] => {
    execFileSync(process.execPath, ['-e', here]);
    return ['postgres-password', 'pgpass'].map((file) => readFileSync(join(folder, file), 'utf8'));
  };
  const [secret = '', line] = made();
  expect(secret.length).toBeGreaterThan(24);
  const [url = ''] = parseOptions(apiserver.command).storage.databaseUrls;
  const { hostname, port, pathname, username, password: inUrl } = new URL(url);
  expect(line).toBe(`${hostname}:${port}:${pathname.slice(1)}:${username}:${secret}\n`);
  expect(inUrl).toBe('');
  expect(statSync(join(folder, 'pgpass')).mode & 0o777).toBe(0o600);
  expect(made()).toEqual([secret, line]);
  rmSync(folder, { recursive: true });
  expect(apiserver.environment).toEqual({ PGPASSFILE: '/run/secrets/pgpass' });
  expect(postgres.environment).toEqual({
    POSTGRES_USER: username,
    POSTGRES_DB: pathname.slice(1),
    POSTGRES_PASSWORD_FILE: '/run/secrets/postgres-password',
  });
});
