// Command gin is the service that most teams would write for the same API: Gin, GORM and SQLite, tuned as their
// documentation recommends. It has no keys and no limits.
package main

import (
	"errors"
	"log"
	"net/http"
	"os"
	"strconv"

	"github.com/gin-gonic/gin"
	"gorm.io/driver/sqlite"
	"gorm.io/gorm"
	"gorm.io/gorm/logger"
)

// Pet is an animal in the table and in answers.
type Pet struct {
	ID         int64  `json:"id" gorm:"primaryKey;autoIncrement"`
	Name       string `json:"name" gorm:"not null" binding:"required,max=1000"`
	CategoryID int64  `json:"categoryId" gorm:"not null" binding:"required"`
	Status     string `json:"status" gorm:"not null;index" binding:"oneof=available pending sold"`
}

// These settings make commits durable. As in petstore, SQLite syncs its log at every commit.
const settings = "?_journal_mode=WAL&_synchronous=FULL&_busy_timeout=10000"

const fill = `INSERT INTO pets (name, category_id, status)
	WITH RECURSIVE n(i) AS (SELECT 1 UNION ALL SELECT i + 1 FROM n WHERE i < CAST(? AS INTEGER))
	SELECT 'Pet number ' || i, i % 40 + 1, CASE i % 3 WHEN 0 THEN 'available' WHEN 1 THEN 'pending' ELSE 'sold' END FROM n`

func main() {
	address, file, rows := os.Args[1], os.Args[2], os.Args[3]
	writer := open(file, 1)
	if err := errors.Join(writer.AutoMigrate(&Pet{}), writer.Exec(fill, rows).Error); err != nil {
		log.Fatal(err)
	}
	reader := open(file, 8)
	gin.SetMode(gin.ReleaseMode)
	router := gin.Default()
	router.GET("/v1/pets", func(c *gin.Context) {
		limit, err := strconv.Atoi(c.DefaultQuery("limit", "20"))
		if err != nil || limit < 1 || limit > 100 {
			answer(c, http.StatusBadRequest, errors.New("limit must be from 1 to 100"), 0, nil)
			return
		}
		query := reader.WithContext(c).Order("id DESC").Limit(limit)
		if before := c.Query("cursor"); before != "" {
			query = query.Where("id < ?", before)
		}
		var pets []Pet
		err = query.Find(&pets).Error
		answer(c, http.StatusInternalServerError, err, http.StatusOK, pets)
	})
	router.GET("/v1/pets/:id", func(c *gin.Context) {
		var pet Pet
		err := reader.WithContext(c).Where("id = ?", c.Param("id")).Take(&pet).Error
		answer(c, http.StatusNotFound, err, http.StatusOK, pet)
	})
	router.POST("/v1/pets", func(c *gin.Context) {
		var pet Pet
		if err := c.ShouldBindJSON(&pet); err != nil {
			answer(c, http.StatusBadRequest, err, 0, nil)
			return
		}
		pet.ID = 0
		err := writer.WithContext(c).Create(&pet).Error
		answer(c, http.StatusInternalServerError, err, http.StatusCreated, pet)
	})
	log.Fatal(router.Run(address))
}

// answer writes an answer. If err is not nil, it writes the error with the status refusal. Otherwise it writes the value
// what with the status in the argument status.
func answer(c *gin.Context, refusal int, err error, status int, what any) {
	if err != nil {
		c.JSON(refusal, gin.H{"message": err.Error()})
		return
	}
	c.JSON(status, what)
}

func open(file string, connections int) *gorm.DB {
	db, err := gorm.Open(sqlite.Open("file:"+file+settings), &gorm.Config{
		PrepareStmt:            true,
		SkipDefaultTransaction: true,
		Logger:                 logger.Discard,
	})
	if err != nil {
		log.Fatal(err)
	}
	pool, err := db.DB()
	if err != nil {
		log.Fatal(err)
	}
	pool.SetMaxOpenConns(connections)
	pool.SetMaxIdleConns(connections)
	return db
}
