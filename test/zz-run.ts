// usage: node run.ts <filter-regex> : runs the hostile cases once each and prints readings
import pg from 'pg';
import { readFileSync } from 'node:fs';
import { startCluster } from '/work/wt/input/test/kit/cluster.ts';
import { migrate, readMigrations } from '/work/wt/input/src/storage/postgres/migrate.ts';
process.chdir('/work/wt/input');
const tables: any = {};
const dir = '/work/wt/input/test/e2e/hostile/';
for (const [file, name] of [['bodies','BODIES'],['yaml-bodies','YAML_BODIES'],['objects','OBJECTS'],['patches','PATCHES'],['queries','QUERIES']]) tables[file] = (await import(dir + file + '.ts'))[name];
const url = new URL(readFileSync('/tmp/input/pg.url','utf8'));
const admin = new pg.Client({ connectionString: url.href }); await admin.connect();
const name = 'run_' + process.pid; await admin.query(`CREATE DATABASE ${name}`); url.pathname = '/' + name;
const c = new pg.Client({ connectionString: url.href }); await c.connect(); await migrate(c, readMigrations()); await c.end();
const cluster = await startCluster(url.href, [], { preload: '/work/wt/input/test/kit/event-loop-probe.ts' });
const filter = new RegExp(process.argv[2] ?? '.'); const tries = Number(process.argv[3] ?? 2);
const send = async (r: any) => r.send ? r.send(cluster) : cluster.request(r.method, r.path, r.body?.(), { ...r.headers });
for (const [table, rows] of Object.entries<any>(tables)) for (const r of rows) {
  if (!filter.test(table + ': ' + r.name)) continue;
  const out: string[] = []; let text = '', code = 0;
  await r.before?.(cluster);
  for (let i = 0; i < tries; i++) {
    await cluster.ask('begin');
    const t0 = Date.now();
    try { const a = await send(r); text = a.text; code = a.code; } catch (e) { text = String(e); code = 0; }
    const x: any = await cluster.ask('end');
    out.push(`${x.longestMs.toFixed(0)}ms ${(x.grownBytes/1048576).toFixed(0)}MB (${Date.now()-t0})`);
    if (x.longestMs <= 100 && x.grownBytes <= 64*1048576) break;
  }
  const bad = out.length === tries ? '!! ' : '   ';
  console.log(bad + table + ': ' + r.name + ' | ' + code + ' | ' + out.join(' , ') + ' | ' + text.slice(0, 90).replace(/\n/g,' '));
}
await cluster[Symbol.asyncDispose]();
await admin.query(`DROP DATABASE ${name} WITH (FORCE)`); await admin.end();
