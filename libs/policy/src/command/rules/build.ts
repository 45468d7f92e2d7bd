import type { Rule } from '../rule.ts';
import { OUTSIDE } from './outside.ts';

/** Build tools: what their targets are called decides; options that give them other programs are changes. */
export const buildRules: readonly Rule[] = [
  {
    names: 'make gmake bmake nmake mingw32-make',
    is: 'READ_ONLY',
    valued:
      '-C -f -I -o -W -E --directory --file --makefile --include-dir --old-file --what-if --new-file --eval --assume-new --assume-old -l --load-average',
    effects: [
      { on: '-E --eval', is: 'MUTATING', why: 'adds rules that are typed in', value: 'shell' },
      {
        on: '-f --file --makefile',
        is: 'MUTATING',
        why: 'reads rules from elsewhere',
        when: /^([/~]|\/tmp|-$|\/dev|.*\.\.)/,
      },
      { on: '-I --include-dir', is: 'MUTATING', why: 'reads rules from elsewhere', when: /^[/~]|\.\./ },
      {
        on: '-C --directory',
        is: 'MUTATING',
        why: 'reads rules from elsewhere',
        when: /^(?!\/workspace(\/|$))[/~]|\.\./,
      },
    ],
    judge: 'make',
    examples: [
      ['make', 'BUILD'],
      ['make -j8', 'BUILD'],
      ['make -j 8 all', 'BUILD'],
      ['make test', 'TEST'],
      ['make -C services/router test', 'TEST'],
      ['make clean', 'MUTATING'],
      ['make install', 'MUTATING'],
      ['make test deploy', 'REMOTE_MUTATION'],
      ['make SHELL=/tmp/x', 'MUTATING'],
      ["make CC='sh -c id' all", 'MUTATING'],
      ['make CC=clang all', 'BUILD'],
      ['make V=1', 'BUILD'],
      ["make --eval='x:;rm -rf /' x", 'DESTRUCTIVE!'],
    ],
  },
  {
    names:
      'just task rake invoke inv doit tup scons waf mage gulp grunt jake moon lage wireit ninja samu meson b2 bjam ant sbt mill lein boot leiningen buck buck2 pants please-build earthly dagger xmake premake5 qmake autoconf automake autoreconf libtoolize cabal stack dub nimble shards rebar3 gleam zig',
    is: 'READ_ONLY',
    tool: true,
    valued: '-f -C -j -d -k -l -t --justfile --working-directory --set --dotenv-path --shell -p --prefix --rakefile',
    effects: [
      {
        on: '--shell --shell-arg --eval -e --execute',
        is: 'MUTATING',
        why: 'runs what is typed in or named',
        value: 'shell',
      },
      { on: '-f --justfile --rakefile', is: 'MUTATING', why: 'reads tasks from elsewhere', when: /^[/~]|\.\./ },
    ],
    judge: 'tasks',
    examples: [
      ['just test', 'TEST'],
      ['just', 'BUILD'],
      ['ninja -C build', 'BUILD'],
      ['rake deploy', 'REMOTE_MUTATION'],
      ['just clean', 'MUTATING'],
    ],
  },
  {
    names: 'gradle',
    is: 'READ_ONLY',
    valued:
      '-p -b -c -I -P -D -x -g --project-dir --build-file --settings-file --init-script --project-prop --system-prop --exclude-task --gradle-user-home --include-build --tests --console',
    effects: [
      { on: '-I --init-script --include-build', is: 'MUTATING', why: 'runs a script that is named' },
      {
        on: '-b --build-file -c --settings-file',
        is: 'MUTATING',
        why: 'reads a build from elsewhere',
        when: /^[/~]|\.\./,
      },
      {
        on: '-D --system-prop',
        is: 'MUTATING',
        why: 'sets what the build runs with',
        when: /exec|agent|java\.home|jvmargs|init/,
      },
      { on: '--write-locks --write-verification-metadata --update-locks', is: 'MUTATING', why: 'rewrites files' },
    ],
    judge: 'tasks',
    examples: [
      ['gradle build', 'BUILD'],
      ['gradle :app:test', 'TEST'],
      ['gradle publish', 'REMOTE_MUTATION'],
      ['gradle -I evil.gradle build', 'MUTATING'],
      ['gradle clean build', 'BUILD'],
    ],
  },
  {
    names: 'mvn mvnd',
    is: 'READ_ONLY',
    valued:
      '-f -s -gs -pl -P -D -T -t -l -rf --file --settings --projects --activate-profiles --define --threads --toolchains --log-file',
    style: 'single',
    effects: [
      { on: '-f --file', is: 'MUTATING', why: 'reads a build from elsewhere', when: /^[/~]|\.\./ },
      {
        on: '-s -gs --settings --global-settings -t --toolchains',
        is: 'MUTATING',
        why: 'reads settings from elsewhere',
      },
      { on: '-l --log-file', is: 'MUTATING', why: 'writes a file', value: 'file' },
      {
        on: '-Dexec.executable -Dexec.mainClass -Dexec.args -Dmaven.ext.class.path -Djvm -DargLine',
        is: 'MUTATING',
        why: 'runs what is named',
      },
    ],
    judge: 'maven',
    examples: [
      ['mvn -q compile', 'BUILD'],
      ['mvn test', 'TEST'],
      ['mvn -DskipTests package', 'BUILD'],
      ['mvn deploy', 'REMOTE_MUTATION!'],
      ['mvn exec:exec -Dexec.executable=rm', 'MUTATING'],
      ['mvn clean package', 'BUILD'],
      ['mvn -pl core test', 'TEST'],
    ],
  },
  {
    names: 'cmake',
    is: 'BUILD',
    style: 'single',
    valued: '-S -B -G -D -C -P -E -A -T --preset --build --install --target --config --parallel -j -U --open --prefix',
    effects: [
      { on: '-P -C --script', is: 'MUTATING', why: 'runs a script that is named' },
      { on: '--install --open', is: 'MUTATING', why: 'writes outside the build tree' },
      {
        on: '-DCMAKE_C_COMPILER -DCMAKE_CXX_COMPILER -DCMAKE_TOOLCHAIN_FILE -DCMAKE_C_COMPILER_LAUNCHER -DCMAKE_CXX_COMPILER_LAUNCHER -DCMAKE_MAKE_PROGRAM -DCMAKE_PROJECT_INCLUDE -DCMAKE_LINKER -DCMAKE_INSTALL_PREFIX',
        is: 'MUTATING',
        why: 'chooses programs or places',
        unless: /^(gcc|g\+\+|clang|clang\+\+|cc|c\+\+|ccache|sccache|ninja|make)$/,
      },
    ],
    judge: 'cmake',
    examples: [
      ['cmake --build build', 'BUILD'],
      ['cmake -S . -B build', 'BUILD'],
      ['cmake --install build', 'MUTATING'],
      ['cmake -E rm -rf build', 'DESTRUCTIVE!'],
      ['cmake --build build --target install', 'MUTATING'],
    ],
  },
  {
    names:
      'webpack rollup esbuild parcel tsup tsdown unbuild swc babel rolldown browserify snowpack microbundle ncc pkgroll bunchee',
    is: 'BUILD',
    tool: true,
    valued:
      '-c --config --mode --env -o --output-path --outdir --outfile --out-dir --out-file -d --format --dir --file -p --plugin --target --platform',
    effects: [
      { on: '-c --config', is: 'MUTATING', why: 'loads what lies outside the workspace', when: OUTSIDE },
      {
        on: '-o --output-path --outdir --outfile --out-dir --out-file --dir --file -d',
        is: 'MUTATING',
        why: 'writes outside the build outputs',
        when: /^[~/]|\.\.|^\.?\/?src\/?|^\.\/?$|\.(ts|tsx|json|md)$/,
      },
      {
        on: '--serve -s --servedir --watch-path',
        is: 'MUTATING',
        why: 'serves or writes what is named',
        unless: /^(inline|both|false)/,
      },
      { on: '-p --plugin --require -r', is: 'MUTATING', why: 'loads code that is named', when: /^[./~]/ },
    ],
    examples: [
      ['webpack --mode production', 'BUILD'],
      ['webpack --env push=false', 'BUILD'],
      ['rollup -c', 'BUILD'],
      ['esbuild src/a.ts --bundle --outfile=dist/a.js', 'BUILD'],
      ['esbuild a.ts --outfile=src/b.ts', 'MUTATING'],
    ],
  },
  {
    names:
      'vite next nuxt astro gatsby remix ng nest vue-cli-service react-scripts svelte-kit docusaurus eleventy hugo jekyll vuepress vitepress storybook expo quasar ionic ember preact wxt electron-builder electron-forge tauri mkdocs nuxi rspack farm rsbuild rslib',
    is: 'MUTATING',
    tool: true,
    bare: 'MUTATING',
    why: 'starts a server or builds',
    valued: '-c --config --mode -m --base --port --host',
    verbs: {
      READ_ONLY: 'info version help',
      BUILD: 'build optimize compile analyze prepare sync',
      TEST: 'test lint check typecheck',
      REMOTE_MUTATION: 'deploy publish gh-deploy submit',
    },
    examples: [
      ['vite build', 'BUILD'],
      ['vite', 'MUTATING'],
      ['next lint', 'TEST'],
      ['ng deploy', 'REMOTE_MUTATION'],
    ],
  },
  {
    names: 'nx turbo lerna rush',
    is: 'READ_ONLY',
    tool: true,
    judge: 'workspace',
    examples: [
      ['nx build router', 'BUILD'],
      ['nx test router', 'TEST'],
      ['nx run router:build', 'BUILD'],
      ['nx run-many -t lint test', 'TEST'],
      ['turbo run build', 'BUILD'],
      ['nx graph', 'MUTATING'],
      ['lerna publish', 'REMOTE_MUTATION'],
      ['nx affected -t deploy', 'REMOTE_MUTATION'],
      ['nx exec -- rm -rf x', 'DESTRUCTIVE!'],
    ],
  },
  {
    names: 'bazel bazelisk',
    is: 'BUILD',
    other: 'MUTATING',
    valued: '--output_base --bazelrc --output_user_root',
    everywhere: true,
    effects: [
      {
        on: '--bazelrc --run_under --workspace_status_command --override_repository --override_module --shell_executable --test_env --action_env',
        is: 'MUTATING',
        why: 'chooses what the build runs',
        when: /^[./~]|PATH|LD_/,
      },
    ],
    verbs: {
      READ_ONLY: 'query cquery aquery info version help license dump',
      TEST: 'test coverage',
      BUILD: 'build analyze-profile',
      MUTATING: 'run clean mod fetch sync shutdown mobile-install',
    },
    examples: [
      ['bazel build //x', 'BUILD'],
      ['bazel run //x', 'MUTATING'],
      ['bazel test //... --run_under=./x', 'MUTATING'],
    ],
  },
  {
    names: 'swift xcodebuild xcrun',
    is: 'BUILD',
    other: 'MUTATING',
    bare: 'MUTATING',
    valued: '-scheme -project -workspace -configuration -destination -sdk -target --package-path',
    verbs: { BUILD: 'build archive analyze', TEST: 'test', MUTATING: 'run package clean', READ_ONLY: '-version -list' },
    examples: [
      ['swift build', 'BUILD'],
      ['swift test', 'TEST'],
      ['swift run', 'MUTATING'],
    ],
  },
  {
    names: 'dotnet msbuild',
    is: 'BUILD',
    other: 'MUTATING',
    verbs: {
      BUILD: 'build msbuild',
      TEST: 'test vstest',
      MUTATING:
        'run watch new add remove restore clean tool workload sln store exec fsi publish pack ef format dev-certs',
      READ_ONLY: 'list help sdk --info --list-sdks --list-runtimes',
    },
    forms: {
      nuget: {
        is: 'MUTATING',
        verbs: {
          REMOTE_MUTATION: 'push delete',
          READ_ONLY: 'list locals',
          MUTATING: 'add remove update enable disable trust verify sign',
        },
        final: 'push delete',
      },
    },
    examples: [
      ['dotnet build', 'BUILD'],
      ['dotnet test', 'TEST'],
      ['dotnet nuget push x.nupkg', 'REMOTE_MUTATION!'],
      ['dotnet run', 'MUTATING'],
      ['dotnet --info', 'READ_ONLY'],
    ],
  },
  {
    names: 'mix',
    is: 'BUILD',
    other: 'MUTATING',
    bare: 'MUTATING',
    verbs: {
      TEST: 'test credo dialyzer coveralls',
      BUILD: 'compile xref',
      READ_ONLY: 'help deps.tree hex.outdated',
      REMOTE_MUTATION: 'hex.publish hex.retire',
    },
    forms: { format: { is: 'READ_ONLY', judge: 'formatter' } },
    final: 'hex.publish',
    examples: [
      ['mix test', 'TEST'],
      ['mix ecto.drop', 'MUTATING'],
      ['mix hex.publish', 'REMOTE_MUTATION!'],
    ],
  },
  {
    names: 'flutter dart',
    is: 'BUILD',
    other: 'MUTATING',
    verbs: { TEST: 'test analyze', BUILD: 'build compile', READ_ONLY: 'devices help doctor info' },
    forms: {
      pub: {
        is: 'MUTATING',
        other: 'MUTATING',
        verbs: { REMOTE_MUTATION: 'publish', READ_ONLY: 'deps outdated' },
        final: 'publish',
      },
    },
    examples: [
      ['flutter test', 'TEST'],
      ['dart pub publish', 'REMOTE_MUTATION!'],
    ],
  },
];
