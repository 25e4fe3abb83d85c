# Two images, neither runs as root:
#   docker build -t holdfast .                                   the command line with all drivers: work, serve, …
#   docker build -t holdfast-backoffice --target backoffice .    the back office of apps/backoffice
# Your jobs are a layer of your own: FROM holdfast, then COPY jobs.ts and your node_modules to /app.
FROM node:24-slim AS build
WORKDIR /src
COPY package.json package-lock.json .npmrc tsconfig.json ./
COPY scripts ./scripts
COPY packages ./packages
COPY apps ./apps
# The tarballs are what npm has: no sources, no tests.
COPY README.md LICENSE CHANGELOG.md ./
COPY docs ./docs
RUN npm ci --ignore-scripts --no-audit --no-fund && node scripts/pack-all.mjs /packed

# What is installed here is copied as it is: no cache, no tarball and no compiler comes along.
FROM build AS backoffice-files
WORKDIR /app
RUN cp -r /src/apps/backoffice/package.json /src/apps/backoffice/config /src/apps/backoffice/sample . \
  && cp -r /src/apps/backoffice/dist . \
  && npm install --omit=dev --no-audit --no-fund /packed/*.tgz

FROM build AS cli-files
WORKDIR /app
RUN echo '{ "private": true, "type": "module" }' > package.json \
  && rm /packed/holdfast-nestjs-*.tgz \
  && npm install --omit=dev --no-audit --no-fund /packed/*.tgz pg@8 ioredis@6 mongodb@7

FROM node:24-slim AS backoffice
ENV NODE_ENV=production
COPY --from=backoffice-files /app /app
# Files of SQLite and the inbox are here, if the settings name no other place.
WORKDIR /data
RUN chown 1000:1000 /data
VOLUME /data
ENV PATH=/app/node_modules/.bin:$PATH
# The user `node` by its number: Kubernetes can tell that it is not root.
USER 1000:1000
EXPOSE 5000
# Its own answer: the database is there, and its worker leases.
HEALTHCHECK --interval=30s --timeout=10s --start-period=30s --retries=3 \
  CMD ["node", "-e", "fetch(`http://127.0.0.1:${process.env.PORT || 5000}/health`).then((answer) => process.exit(answer.ok ? 0 : 1), () => process.exit(1))"]
STOPSIGNAL SIGTERM
ENTRYPOINT ["node", "/app/dist/main.js"]

FROM node:24-slim AS holdfast
ENV NODE_ENV=production
WORKDIR /app
COPY --from=cli-files /app /app
# The folder, not what is installed in it: a SQLite file may be made here.
RUN chown 1000:1000 /app
ENV PATH=/app/node_modules/.bin:$PATH
USER 1000:1000
# Its worker's record is in the store, and at most 20 s old: "host": "<this container>". Unhealthy is shown,
# and restarts nothing by itself: a store that is away comes back, and so do its workers.
HEALTHCHECK --interval=30s --timeout=10s --start-period=20s --retries=3 \
  CMD ["sh", "-c", "holdfast workers --json | grep -q host.:..$(hostname)."]
# Node is process 1 and hears SIGTERM itself; give it more than its grace of 10 s.
STOPSIGNAL SIGTERM
ENTRYPOINT ["holdfast"]
CMD ["work"]
