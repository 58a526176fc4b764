// One rule per row of the rooms table in docs/how-it-works.md: what a folder may import. `import type` counts too.

/** folder → the folders that it may import, besides itself and `kernel`. */
const rooms = {
  kernel: [],
  api: [],
  config: [],
  observability: [],
  redis: [],
  kubernetes: [],
  informers: ['kubernetes'],
  leadership: ['redis', 'kubernetes'],
  workqueue: ['redis'],
  controllers: ['informers', 'kubernetes', 'workqueue'],
  apply: ['kubernetes'],
  events: ['kubernetes'],
  manifests: [],
  git: [],
  clusters: ['api', 'apply', 'events', 'kubernetes', 'informers', 'workqueue'],
  workloads: ['api', 'apply', 'controllers', 'kubernetes', 'informers', 'workqueue'],
  federation: [
    'api',
    'apply',
    'clusters',
    'controllers',
    'events',
    'git',
    'informers',
    'kubernetes',
    'manifests',
    'redis',
    'workqueue',
  ],
  runtime: [
    'api',
    'apply',
    'clusters',
    'config',
    'controllers',
    'events',
    'federation',
    'git',
    'informers',
    'kubernetes',
    'leadership',
    'manifests',
    'redis',
    'workloads',
    'workqueue',
  ],
};

/** package → the only folders that may import it. */
const fences = {
  '@kubernetes/client-node': ['kubernetes'],
  undici: ['kubernetes', 'git'],
  ws: ['kubernetes'],
  bullmq: ['workqueue'],
  ioredis: ['redis'],
  'isomorphic-git': ['git'],
  'js-yaml': ['manifests', 'kubernetes'],
  zod: ['api', 'config'],
  pino: ['observability'],
  'prom-client': ['observability'],
};

const mayImport = Object.entries(rooms).map(([room, below]) => ({
  name: `${room}-may-import`,
  comment: `src/${room} may import ${['kernel', ...below].join(', ')}`,
  severity: 'error',
  from: { path: `^src/${room}/`, pathNot: '\\.test\\.ts$' },
  to: { path: '^src/', pathNot: `^src/(${[room, 'kernel', ...below].join('|')})/` },
}));

const vendors = Object.entries(fences).map(([vendor, inside]) => ({
  name: `fence-${vendor.replaceAll(/\W/g, '-')}`,
  comment: `${vendor} stays inside ${inside.join(', ')}`,
  severity: 'error',
  from: { path: '^src/', pathNot: `^src/(${inside.join('|')})/` },
  to: { path: `^node_modules/${vendor}/` },
}));

/** @type {import('dependency-cruiser').IConfiguration} */
export default {
  forbidden: [
    ...mayImport,
    ...vendors,
    {
      name: 'front-door',
      comment: 'another folder is entered through its index.ts',
      severity: 'error',
      from: { path: '^src/([^/]+)/' },
      to: { path: '^src/[^/]+/.+', pathNot: ['^src/$1/', '^src/[^/]+/index\\.ts$', '\\.module\\.ts$'] },
    },
    {
      name: 'front-door-from-outside',
      comment: 'a folder is entered through its index.ts',
      severity: 'error',
      from: { path: '^(test|demo|bench|scripts|src/[^/]+\\.ts)' },
      to: { path: '^src/[^/]+/.+', pathNot: ['^src/[^/]+/index\\.ts$', '\\.module\\.ts$'] },
    },
    {
      name: 'nest-in-its-place',
      comment: 'Nest lives in modules, controllers and the process entry',
      severity: 'error',
      from: { path: '^src/', pathNot: '(\\.module|\\.controller|^src/replica)\\.ts$' },
      to: { path: '^node_modules/@nestjs/' },
    },
    {
      name: 'no-cycles',
      severity: 'error',
      from: {},
      to: { circular: true },
    },
    {
      name: 'resolvable',
      severity: 'error',
      from: {},
      to: { couldNotResolve: true },
    },
  ],
  options: {
    doNotFollow: { path: 'node_modules' },
    exclude: { path: '^dist/' },
    tsPreCompilationDeps: true,
    tsConfig: { fileName: 'tsconfig.json' },
    enhancedResolveOptions: { exportsFields: ['exports'], conditionNames: ['import', 'node', 'default', 'types'] },
  },
};
