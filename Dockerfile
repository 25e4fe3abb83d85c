# The command line with all drivers: `holdfast work`, `holdfast serve`, and everything else.
# Build: docker build -t holdfast .
# Your jobs are a layer of your own: FROM holdfast, then COPY jobs.ts and your node_modules to /app.
FROM node:24-slim AS build
WORKDIR /src
COPY package.json package-lock.json .npmrc tsconfig.json ./
COPY packages ./packages
COPY scripts ./scripts
# The tarballs are what npm has: no sources, no tests.
COPY README.md LICENSE CHANGELOG.md ./
COPY docs ./docs
RUN npm ci --ignore-scripts --no-audit --no-fund \
  && mkdir /packed \
  && for name in packages/*/; do \
    grep -q '"private": true' "$name/package.json" || (cd "$name" && npm pack --pack-destination /packed); \
  done

FROM node:24-slim
ENV NODE_ENV=production
WORKDIR /app
RUN chown node:node /app
USER node
COPY --from=build --chown=node:node /packed /tmp/packed
RUN echo '{ "private": true, "type": "module" }' > package.json \
  && npm install --omit=dev --no-audit --no-fund /tmp/packed/*.tgz pg ioredis mongodb \
  && rm -rf /tmp/packed ~/.npm
ENV PATH=/app/node_modules/.bin:$PATH
# Its worker's record is in the store, and at most 20 s old. Unhealthy is shown, and restarts nothing by itself:
# a store that is away comes back, and so do its workers.
HEALTHCHECK --interval=30s --timeout=10s --start-period=20s --retries=3 \
  CMD holdfast workers --json | grep -q "\"host\": \"$(hostname)\"" || exit 1
# Node is process 1 and hears SIGTERM itself; give it more than its grace of 10 s.
STOPSIGNAL SIGTERM
ENTRYPOINT ["holdfast"]
CMD ["work"]
