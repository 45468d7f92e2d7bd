import { HOLE } from './findings.ts';

/** Variables that choose what another program loads or runs, or where it writes besides. A name not listed here is taken as harmless. */
const CHOOSES_CODE: readonly RegExp[] = [
  /^(LD|DYLD)_/,
  /^(PATH|IFS|ENV|BASH_ENV|SHELL|SHELLOPTS|BASHOPTS|PS4|PROMPT_COMMAND|PS0|PS1|HISTFILE|BASH_LOADABLES_PATH|BASH_CMDS|BASH_ALIASES|BASH_XTRACEFD|VIMINIT|EXINIT|MYVIMRC|AWKPATH|AWKLIBPATH|PSQLRC|R_PROFILE\w*|HOME|XDG_CONFIG_HOME|XDG_CONFIG_DIRS|CDPATH|ZDOTDIR|FPATH|BASH_FUNC_.*)$/,
  /^GIT_(?!AUTHOR_|COMMITTER_|TERMINAL_PROMPT$|OPTIONAL_LOCKS$|LITERAL_PATHSPECS$|MERGE_AUTOEDIT$)/,
  /(PAGER|EDITOR|VISUAL|BROWSER|ASKPASS|WRAPPER|LINKER|RUNNER|LAUNCHER|PRELOAD)$/,
  /_(COMMAND|CMD|RSH|HELPER|PLUGIN|PLUGINS)$/,
  /^(LESS|LESSOPEN|LESSCLOSE|LESSKEY\w*|MANOPT|MORE)$/,
  /^(RIPGREP_CONFIG_PATH|FZF_\w+|ACKRC|ACK_OPTIONS|GREP_OPTIONS|TAR_OPTIONS|RSYNC_\w+|ZIPOPT|UNZIP|XZ_OPT|WGETRC|CURL_HOME|INPUTRC|TERMINFO)$/,
  /^(NODE_OPTIONS|NODE_PATH|NODE_REPL_\w+|NODE_V8_COVERAGE|NODE_COMPILE_CACHE|NODE_REDIRECT_WARNINGS|TS_NODE_\w+|ELECTRON_RUN_AS_NODE|BUN_OPTIONS|DENO_\w+)$/,
  /^npm_config_/i,
  /^(YARN|PNPM|COREPACK)_(?!ENABLE_COLORS)/i,
  /^PYTHON(?!UNBUFFERED$|DONTWRITEBYTECODE$|HASHSEED$|IOENCODING$|UTF8$|FAULTHANDLER$|WARNINGS$|DEVMODE$|TRACEMALLOC$|ASYNCIODEBUG$)/,
  /^PYTEST_(ADDOPTS|PLUGINS)$/,
  /^(DOTNET_(STARTUP_HOOKS|ADDITIONAL_DEPS|ROOT)\w*|CORECLR_\w+|COR_\w+|COMPlus_\w+|ERL_\w+|ELIXIR_ERL_OPTIONS|JULIA_\w+|SWIFT_EXEC|PKG_CONFIG\w*)$/,
  /^(PIP|UV|POETRY|PIPENV|PDM|CONDA|VIRTUAL)_(?!NO_CACHE|NO_CACHE_DIR|DISABLE_PIP_VERSION_CHECK|NO_COLOR|NO_PROGRESS|QUIET|VERBOSE)/,
  /^(PERL5LIB|PERLLIB|PERL5OPT|PERL5DB|RUBYLIB|RUBYOPT|BUNDLE_\w+|GEM_\w+|LUA_INIT\w*|LUA_PATH\w*|LUA_CPATH\w*|PHPRC|PHP_INI_SCAN_DIR)$/,
  /^(JAVA_TOOL_OPTIONS|_JAVA_OPTIONS|JDK_JAVA_OPTIONS|JAVA_OPTS|JAVA_HOME|CLASSPATH|MAVEN_\w+|MVN_\w+|GRADLE_\w+|ANT_\w+|SBT_OPTS|JVM_OPTS)$/,
  /^(MAKEFLAGS|GNUMAKEFLAGS|MFLAGS|MAKEFILES|MAKE|CMAKE_\w+|CTEST_\w+|NINJA_\w+|CONFIG_SHELL|CONFIG_SITE)$/,
  /^(CC|CXX|CPP|LD|AR|AS|NM|RANLIB|STRIP|OBJCOPY|FC|RUSTC|RUSTDOC|CFLAGS|CXXFLAGS|CPPFLAGS|LDFLAGS|RUSTFLAGS|RUSTDOCFLAGS)$/,
  /^(GCC_EXEC_PREFIX|COMPILER_PATH|LIBRARY_PATH|CPATH|C_INCLUDE_PATH|DEPENDENCIES_OUTPUT|SUNPRO_DEPENDENCIES)$/,
  /^CARGO_(?!TERM_|INCREMENTAL$|PROFILE_|NET_|BUILD_JOBS$)/,
  /^(RUSTUP_\w+|CCACHE_\w+|SCCACHE_\w+)$/,
  /^(GOFLAGS|GOROOT|GOPATH|GOENV|GOTOOLCHAIN|GOPROXY|GOSUMDB|GONOSUMDB|GOINSECURE|GOPRIVATE|GOVCS|CGO_(?!ENABLED$)\w+)$/,
  /^(OPENSSL_\w+|SSL_CERT_\w+|GCONV_PATH|LOCPATH|NLSPATH|HOSTALIASES|RES_OPTIONS|GIO_EXTRA_MODULES|GTK_\w*MODULES|QT_PLUGIN_PATH|XDG_DATA_DIRS)$/,
  /^(KUBECONFIG|DOCKER_\w+|CONTAINER_HOST|COMPOSE_\w+|PGSERVICEFILE|PGPASSFILE|MYSQL_HOME|AWS_CONFIG_FILE|AWS_SHARED_CREDENTIALS_FILE|ANSIBLE_\w+|TF_CLI_\w+|TF_PLUGIN_\w+)$/,
  /^(https?|all|ftp|no)_proxy$/i,
];

/** Values that give such a variable no power. */
const HARMLESS: readonly (readonly [RegExp, RegExp])[] = [
  [/PAGER$/, /^(cat|less|more|)$/],
  [/EDITOR$|^VISUAL$/, /^(true|:|cat|vi|vim|nano|)$/],
  [/^LESS$/, /^-?[A-Za-z]*$/],
  [
    /^NODE_OPTIONS$/,
    /^(\s*--(max-old-space-size=\d+|max_old_space_size=\d+|no-warnings|no-deprecation|trace-\w+|enable-source-maps|experimental-vm-modules|experimental-strip-types|unhandled-rejections=\w+|stack-trace-limit=\d+))*\s*$/,
  ],
  [/^(CC|CXX|LD|AR|FC)$/, /^(cc|c\+\+|gcc|g\+\+|clang|clang\+\+|ld|lld|ar|llvm-ar|gfortran|tcc)(-\d+)?$/],
  [
    /^(C|CXX|CPP)FLAGS$/,
    /^(\s*-(O[0-3sg]?|g\d?|W[\w-]*(=[\w-]+)?|std=[\w+]+|f(PIC|sanitize=[\w,]+|no-[\w-]+)|D\w+(=\w+)?|m\w+(=[\w-]+)?|pedantic))*\s*$/,
  ],
  [
    /^RUST(DOC)?FLAGS$/,
    /^(\s*(-[DWAF]\s*[\w:-]+|-C\s*(opt-level|debuginfo|target-cpu|instrument-coverage|debug-assertions)(=[\w-]+)?|--cfg[ =]\w+))*\s*$/,
  ],
  [/^CARGO_(TARGET_DIR|ENCODED_RUSTFLAGS)$/, /^$|^[\w./-]+$/],
  [/^(JAVA_TOOL_OPTIONS|JAVA_OPTS|MAVEN_OPTS|GRADLE_OPTS|SBT_OPTS|JVM_OPTS)$/, /^(\s*-X(m[sx]|ss)\d+[kmgKMG]?)*\s*$/],
  [/^MAKEFLAGS$/, /^-?j?\s*\d*$/],
  [/^(https?|all|ftp|no)_proxy$/i, /^$/],
  [/^npm_config_(loglevel|color|progress|fund|audit|update_notifier|cache)$/i, /^[\w./-]*$/],
  [/^DOCKER_(BUILDKIT|DEFAULT_PLATFORM|CLI_HINTS)$/, /^[\w/.-]*$/],
  [/^COMPOSE_PROJECT_NAME$/, /^[\w-]*$/],
  [/^(LD_BIND_NOW|GIT_PAGER_IN_USE)$/, /^\d?$/],
];

/** Variables that only widen where a test or a build of the project finds its own modules. */
const OWN_MODULES = /^(PYTHONPATH|NODE_PATH|RUBYLIB|PERL5LIB|CLASSPATH)$/;

/** True where setting the variable decides which code a program loads or runs. */
export function choosesCode(name: string, value: string): boolean {
  if (!CHOOSES_CODE.some((pattern) => pattern.test(name))) return false;
  if (value.includes(HOLE)) return true;
  return !HARMLESS.some(([names, values]) => names.test(name) && values.test(value));
}

/** True where the variable adds directories of the project itself to the modules that are found. */
export function addsOwnModules(name: string, value: string): boolean {
  return (
    OWN_MODULES.test(name) &&
    value !== '' &&
    value.split(':').every((each) => /^(\.|[\w-]+)(\/[\w.-]+)*\/?$|^$/.test(each) && !each.includes('..'))
  );
}

/** True where the value of such a variable is itself a command line. */
export function isCommandVariable(name: string): boolean {
  return (
    /(PAGER|EDITOR|VISUAL|BROWSER|ASKPASS|COMMAND|CMD|LESSOPEN|LESSCLOSE|PROXY_COMMAND|SSH|RSH|EXTERNAL_DIFF|WRAPPER|RUNNER)$/.test(
      name,
    ) && !/PROXY$/i.test(name)
  );
}

/** True where a shell expands the value before it uses it, substitutions and all. */
export function isExpandedVariable(name: string): boolean {
  return /^(PS[0-4]|ENV|BASH_ENV|PROMPT_COMMAND)$/.test(name);
}
